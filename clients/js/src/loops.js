// Loops with a connection of their own, which is opened again after each loss.
import { Reconnection } from './again.js';
import * as calls from './calls.js';
import { Channel } from './channel.js';
import { JunctionError } from './errors.js';
import { ifReadable } from './members.js';
import { INVALID_PARAMS, METHOD_NOT_FOUND } from './messages.js';
import { Ending } from './ending.js';
import { renewalRequest } from './values.js';

/** One connection that starts with a call and then receives notifications or questions. */
class Feed {
    #call;
    #first;
    #began;
    #hooks;
    #changed = () => {};

    /** The error that has ended the connection. */
    failure = null;

    /** `hooks`: `begin(result)`, `notify(message)`, `ask(message)`, `lost()`. */
    constructor(path, call, reconnection, hooks) {
        this.#call = call;
        this.#began = () => reconnection.began();
        this.#hooks = hooks;
        this.channel = new Channel(path, this);
        this.#first = this.channel.ask(call.method, call.params ?? {});
    }

    /** Waits until `isReady` returns true, or until the connection has ended. */
    async wait(ending, isReady) {
        this.channel.keepsAlive(true);
        try {
            while (!isReady() && this.failure === null) {
                await new Promise((resolve, reject) => {
                    const remove = ending.add(reject);
                    this.#changed = () => {
                        remove();
                        resolve();
                    };
                });
            }
        } finally {
            this.#changed = () => {};
            this.channel.keepsAlive(false);
        }
    }

    message(message) {
        if (message.kind === 'answer' && message.id === this.#first) {
            if (message.outcome instanceof JunctionError) throw message.outcome;
            const result = calls.result(this.#call, message.outcome);
            this.#began();
            this.#hooks.begin?.(result);
        } else if (message.kind === 'notification') {
            this.#hooks.notify?.(message);
        } else if (message.kind === 'question') {
            if (!this.#hooks.ask?.(message)) {
                this.channel.refuse(message.id, METHOD_NOT_FOUND, `Method not found: ${message.method}`);
            }
        }
        this.#changed();
    }

    notTaken(id, error) {
        this.channel.close(error);
    }

    ended(error) {
        this.failure = error;
        this.#hooks.lost?.();
        this.#changed();
    }
}

const CLOSED = new JunctionError('cancelled', 'the loop was closed');

/** The states of the session from now on: an async iterator that continues across restarts of the daemon. */
export class Watch {
    #path;
    #onlyStates;
    #ending;
    #reconnection = new Reconnection();
    #feed = null;
    #newest = null;
    #lastState = null;
    // The previous `next`: they run one after the other.
    #turn = Promise.resolve();

    constructor(path, onlyStates, { timeout, signal } = {}) {
        this.#path = path;
        this.#onlyStates = onlyStates;
        this.#ending = new Ending(timeout, signal);
    }

    [Symbol.asyncIterator]() {
        return this;
    }

    next() {
        const step = this.#turn.then(() => this.#step());
        this.#turn = step.catch(() => {});
        return step;
    }

    async return(value) {
        this.#close(CLOSED);
        return { done: true, value };
    }

    #close(error) {
        this.#ending.end(error);
        this.#feed?.channel.close(error);
        this.#feed = null;
    }

    async #step() {
        try {
            return { done: false, value: await this.#snapshot() };
        } catch (error) {
            // A loop that has ended stays so: later calls of `next` are `done`.
            const isClosed = this.#ending.error === CLOSED;
            this.#close(CLOSED);
            this.#ending = CLOSED_ENDING;
            if (isClosed) return { done: true, value: undefined };
            throw error;
        }
    }

    async #snapshot() {
        for (;;) {
            if (this.#ending.error !== null) throw this.#ending.error;
            this.#feed ??= this.#open();
            const feed = this.#feed;
            await feed.wait(this.#ending, () => this.#newest !== null);
            const snapshot = this.#newest;
            this.#newest = null;
            if (snapshot !== null) {
                // After a restart the daemon sends its current state, which may be the same as before.
                if (this.#onlyStates && snapshot.state === this.#lastState) continue;
                this.#lastState = snapshot.state;
                return snapshot;
            }
            // Only after the snapshots before it.
            this.#feed = null;
            await this.#ending.pause(this.#reconnection.pause(feed.failure));
        }
    }

    #open() {
        return new Feed(this.#path, calls.subscribe(this.#onlyStates), this.#reconnection, {
            begin: (snapshot) => {
                this.#newest = snapshot;
            },
            notify: (message) => {
                if (message.method === 'session.changed') this.#newest = calls.changedSnapshot(message.params);
            },
        });
    }
}

const CLOSED_ENDING = new Ending();
CLOSED_ENDING.end(CLOSED);

// The longest wait for an answer in milliseconds; the daemon's own deadline is far shorter.
const LONGEST_DECISION = 86_400_000;

/** Answers the daemon's questions for tokens until the signal is aborted. Rejects with an error that a new connection would
 * not change. */
export async function handleRenewals(path, decide, { signal, onRegistered, onError = warn } = {}) {
    const ending = new Ending(undefined, signal);
    const reconnection = new Reconnection();
    let answering = null;
    let feed = null;
    // What `onRegistered` threw, in an array because it may be any value.
    let thrown = null;

    const begin = async () => {
        try {
            await onRegistered?.();
        } catch (error) {
            thrown = [error];
            ending.end(CLOSED);
        }
    };
    const open = () => {
        const opened = new Feed(path, calls.registerHandler(), reconnection, {
            begin,
            ask: (question) => {
                if (question.method !== 'session.willRenewAccessToken') return false;
                if (ending.error !== null) return true;
                const request = ifReadable(renewalRequest, question.params);
                if (request === null) {
                    opened.channel.refuse(question.id, INVALID_PARAMS, 'Invalid params');
                } else {
                    // The daemon no longer waits for the answer to the question before.
                    answering?.cancel();
                    answering = new Answering(decide, request, onError, (answer) => opened.channel.answer(question.id, answer));
                }
                return true;
            },
            lost: () => answering?.cancel(),
        });
        return opened;
    };

    try {
        while (ending.error === null) {
            feed = open();
            await feed.wait(ending, () => false);
            await ending.pause(reconnection.pause(feed.failure));
        }
    } catch (error) {
        if (ending.error !== error) throw error;
        // The normal end. An answer in progress is completed.
        await answering?.done;
    } finally {
        answering?.cancel();
        feed?.channel.close(CLOSED);
        ending.dispose();
    }
    if (thrown !== null) throw thrown[0];
}

/** One question to the session handler. */
class Answering {
    #over = new AbortController();
    #isCancelled = false;

    constructor(decide, request, onError, answer) {
        this.done = this.#run(decide, request, onError, answer);
    }

    /** The daemon needs no answer any more. */
    cancel() {
        this.#isCancelled = true;
        this.#over.abort();
    }

    async #run(decide, request, onError, answer) {
        const left = Math.min(Math.max(request.deadline.getTime() - Date.now(), 0), LONGEST_DECISION);
        const timer = setTimeout(() => this.#over.abort(), left);
        try {
            const aborted = new Promise((_, reject) => {
                this.#over.signal.addEventListener('abort', () => reject(new Error('the daemon waits for no answer any more')));
            });
            // The handler may throw before anything waits for this promise.
            aborted.catch(() => {});
            const decided = calls.decision(await Promise.race([decide(request, { signal: this.#over.signal }), aborted]));
            // An answer that cannot be sent throws, too.
            if (!this.#isCancelled) answer(decided);
        } catch (error) {
            if (this.#isCancelled) return;
            answer(calls.decision(null));
            report(onError, error, request);
        } finally {
            clearTimeout(timer);
        }
    }
}

async function report(onError, error, request) {
    try {
        await onError(error, request);
    } catch (thrown) {
        process.emitWarning(`onError failed for renewal ${request.renewalId}: ${thrown?.message}`);
    }
}

function warn(error, request) {
    process.emitWarning(`The session handler could not decide renewal ${request.renewalId}: ${error?.message}`);
}
