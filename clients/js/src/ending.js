import { closedError, JunctionError } from './errors.js';

// The longest time of setTimeout, which fires at once for a longer one.
const LONGEST = 2 ** 31 - 1;

// The endings of each signal. They share one listener, because Node warns about a leak if a signal has more than ten.
const endings = new WeakMap();

function aborted({ target }) {
    for (const ending of endings.get(target)) ending.end(closedError());
}

function listen(signal, ending) {
    // Throws if the signal is no AbortSignal. Adding the same listener again has no effect.
    signal.addEventListener('abort', aborted);
    if (!endings.has(signal)) endings.set(signal, new Set());
    endings.get(signal).add(ending);
}

function ignore(signal, ending) {
    const others = endings.get(signal);
    others?.delete(ending);
    if (others?.size === 0) signal.removeEventListener('abort', aborted);
}

/** The end of a wait: its timeout, the abort of its signal, or an explicit `end`. The first one counts. */
export class Ending {
    #error = null;
    #listeners = new Set();
    #timer;
    #signal;

    /** `timeout` is in seconds; `undefined` and `Infinity` mean none. */
    constructor(timeout, signal) {
        if (timeout !== undefined && !(typeof timeout === 'number' && timeout >= 0)) {
            throw new TypeError('a timeout is a number of seconds');
        }
        this.#signal = signal ?? null;
        if (this.#signal?.aborted) return this.end(closedError());
        // Before the timer starts, because it may throw.
        if (this.#signal !== null) listen(this.#signal, this);
        if (timeout === 0) this.#timedOut();
        else if (timeout !== undefined && timeout !== Infinity) this.#arm(performance.now() + timeout * 1000);
    }

    #timedOut() {
        this.end(new JunctionError('timedOut', 'the daemon did not answer in time'));
    }

    #arm(at) {
        const left = at - performance.now();
        // Rounded up, so that it does not fire early.
        this.#timer = setTimeout(
            () => (left > LONGEST ? this.#arm(at) : this.#timedOut()),
            Math.min(Math.ceil(Math.max(left, 0)), LONGEST),
        );
    }

    get error() {
        return this.#error;
    }

    end(error) {
        if (this.#error !== null) return;
        this.#error = error;
        this.dispose();
        const listeners = [...this.#listeners];
        this.#listeners.clear();
        for (const listener of listeners) listener(error);
    }

    /** Calls the listener at the end, or now if it has come. Returns a function that removes the listener. */
    add(listener) {
        if (this.#error !== null) listener(this.#error);
        else this.#listeners.add(listener);
        return () => this.#listeners.delete(listener);
    }

    /** Waits for so many seconds. Rejects at the end. */
    pause(seconds) {
        return new Promise((resolve, reject) => {
            const timer = setTimeout(() => {
                remove();
                resolve();
            }, Math.min(seconds * 1000, LONGEST));
            const remove = this.add((error) => {
                clearTimeout(timer);
                reject(error);
            });
        });
    }

    /** Lets go of timer and signal, when nothing waits any more. */
    dispose() {
        clearTimeout(this.#timer);
        if (this.#signal !== null) ignore(this.#signal, this);
    }
}
