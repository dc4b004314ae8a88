import { closedError, JunctionError } from './errors.js';

// The longest time of setTimeout, which fires at once for a longer one.
const LONGEST = 2 ** 31 - 1;

/** The end of a wait: its timeout, the abort of its signal, or an explicit `end`. The first one counts. */
export class Ending {
    #error = null;
    #listeners = new Set();
    #timer;
    #signal;
    #aborted = () => this.end(closedError());

    /** `timeout` is in seconds; `undefined` and `Infinity` mean none. */
    constructor(timeout, signal) {
        if (timeout !== undefined && !(typeof timeout === 'number' && timeout >= 0)) {
            throw new TypeError('a timeout is a number of seconds');
        }
        this.#signal = signal;
        if (signal?.aborted) return this.#aborted();
        // Before the timer starts, because it throws if the signal is no AbortSignal.
        signal?.addEventListener('abort', this.#aborted);
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
        this.#signal?.removeEventListener('abort', this.#aborted);
    }
}
