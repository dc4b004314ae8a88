import { result, wire } from './calls.js';
import { Channel } from './channel.js';
import { JunctionError, notTaken } from './errors.js';
import { ifReadable } from './members.js';
import { INVALID_CREDENTIAL, METHOD_NOT_FOUND } from './messages.js';
import { authenticateRequest } from './values.js';

/** The connection that all calls of a client share. It gives each answer to the call that waits for it. */
export class Calling {
    #channel;
    #waiters = new Map();
    #isRetired = false;

    constructor(path) {
        this.#channel = new Channel(path, this);
        this.#channel.keepsAlive(false);
    }

    get isUsable() {
        return this.#channel.isUsable;
    }

    /** Ends with the last call in progress, because another connection replaces this one. */
    retire() {
        this.#isRetired = true;
        this.#closeIfUnused();
    }

    close(error) {
        this.#channel.close(error);
    }

    /**
     * Makes one call. `identity` has the user for whom the daemon may ask for a credential, the callback that brings it, and
     * `asked`, which is called when the daemon asks.
     */
    perform(call, ending, identity) {
        return new Promise((resolve, reject) => {
            const waiter = { id: this.#channel.ask(call.method, call.params ?? {}), identity, question: null };
            const over = new AbortController();
            let removeEnding = () => {};
            const finish = (error, value) => {
                if (over.signal.aborted) return;
                removeEnding();
                over.abort();
                this.#forget(waiter);
                if (error !== null) return reject(error);
                try {
                    resolve(result(call, value));
                } catch (unreadable) {
                    reject(unreadable);
                }
            };
            waiter.finish = finish;
            waiter.signal = over.signal;
            this.#waiters.set(waiter.id, waiter);
            this.#channel.keepsAlive(true);
            removeEnding = ending.add(finish);
        });
    }

    // An open question is refused, so that a later credential signs no user in.
    #forget(waiter) {
        this.#waiters.delete(waiter.id);
        this.#answer(waiter, null);
        if (this.#waiters.size === 0) this.#channel.keepsAlive(false);
        this.#closeIfUnused();
    }

    #closeIfUnused() {
        if (this.#isRetired && this.#waiters.size === 0) this.#channel.close(notTaken());
    }

    #answer(waiter, credential) {
        const { question } = waiter;
        if (question === null) return;
        if (credential === null) this.#channel.refuse(question.id, INVALID_CREDENTIAL, 'The app has no credential');
        else this.#channel.answer(question.id, credential);
        // Only now: a credential that cannot be sent throws, and the question is then refused.
        waiter.question = null;
    }

    // What the channel reports.

    message(message) {
        if (message.kind === 'answer') {
            const { outcome } = message;
            const isError = outcome instanceof JunctionError;
            this.#waiters.get(message.id)?.finish(isError ? outcome : null, outcome);
        } else if (message.kind === 'question') {
            this.#ask(message);
        }
    }

    notTaken(id, error) {
        this.#waiters.get(id)?.finish(error);
    }

    ended(error) {
        for (const waiter of [...this.#waiters.values()]) waiter.finish(error);
    }

    #ask(question) {
        const asked = question.method === 'session.authenticate' ? ifReadable(authenticateRequest, question.params) : null;
        if (asked === null) {
            return this.#channel.refuse(question.id, METHOD_NOT_FOUND, `Method not found: ${question.method}`);
        }
        for (const waiter of this.#waiters.values()) {
            if (waiter.identity?.user === asked.externalUserId && waiter.question === null) {
                waiter.question = { id: question.id };
                return void this.#bring(waiter);
            }
        }
        this.#channel.refuse(question.id, INVALID_CREDENTIAL, 'No call identifies this user any more');
    }

    async #bring(waiter) {
        const { user, credential, asked } = waiter.identity;
        asked();
        try {
            const brought = credential === undefined ? null : await credential(user, { signal: waiter.signal });
            // After the end of the call its question has been refused.
            this.#answer(waiter, brought === undefined || brought === null ? null : wire(brought));
        } catch (error) {
            waiter.finish(error);
        }
    }
}
