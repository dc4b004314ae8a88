import { Repetition } from './again.js';
import { Calling } from './calling.js';
import * as calls from './calls.js';
import { Ending } from './ending.js';
import { closedError, JunctionError } from './errors.js';
import { handleRenewals, Watch } from './loops.js';
import { socketPath } from './place.js';

// The default timeout of a call in seconds. It leaves a session handler its minute.
const TIMEOUT = 90;

/** The session of this device. index.d.ts describes each call. */
export class Client {
    #path;
    #timeout;
    #calling = null;
    #isClosed = false;

    constructor({ socket, instance, timeout = TIMEOUT } = {}) {
        this.#path = socketPath(socket, instance);
        this.#timeout = timeout;
    }

    close() {
        this.#isClosed = true;
        this.#calling?.close(closedError());
        this.#calling = null;
    }

    // The session.

    status(options) {
        return this.#perform(calls.status(), options);
    }

    watch({ signal } = {}) {
        return new Watch(this.#path, false, { signal });
    }

    watchState({ signal } = {}) {
        return new Watch(this.#path, true, { signal });
    }

    async wait(goal, { timeout, signal } = {}) {
        const isNamed = Object.hasOwn(GOALS, goal);
        if (typeof goal !== 'function' && !isNamed) {
            throw new TypeError(`${String(goal)} is no goal: 'signed-in', 'signed-out' or 'fresh'`);
        }
        const isReached = isNamed ? GOALS[goal] : goal;
        for await (const snapshot of new Watch(this.#path, false, { timeout, signal })) {
            if (isReached(snapshot)) return snapshot;
            const obstacle = goal === 'fresh' ? obstacleTo(snapshot) : null;
            if (obstacle !== null) throw obstacle;
        }
    }

    async signIn(credential, options) {
        return this.#perform(calls.signIn(credential), options);
    }

    signOut(options) {
        return this.#perform(calls.signOut(), options);
    }

    identify(externalUserId, credential, options) {
        return this.#perform(calls.identify(externalUserId), options, { user: externalUserId, credential });
    }

    reconcile(userId, options) {
        return this.#perform(calls.reconcile(userId), options);
    }

    async authorizationPage(page, options) {
        return this.#perform(calls.authorizationPage(page), options);
    }

    // Tokens and the provider's API.

    token({ minimumValidity, ...options } = {}) {
        return this.#perform(calls.token(minimumValidity), options);
    }

    renew(options) {
        return this.#perform(calls.renew(), options);
    }

    async request(method, path, { query, headers, body, ...options } = {}) {
        return this.#perform(calls.api(method, path, { query, headers, body }), options);
    }

    handleRenewals(decide, options) {
        return handleRenewals(this.#path, decide, options);
    }

    // The daemon.

    info(options) {
        return this.#perform(calls.info(), options);
    }

    whoami(options) {
        return this.#perform(calls.whoami(), options);
    }

    reload(options) {
        return this.#perform(calls.reload(), options);
    }

    metrics(options) {
        return this.#perform(calls.metrics(), options);
    }

    diagnose(options) {
        return this.#perform(calls.diagnose(), options);
    }

    // Implementation.

    async #perform(call, { timeout = this.#timeout, patience, signal } = {}, identity) {
        const repetition = new Repetition(call, patience);
        const ending = new Ending(timeout, signal);
        const asking = identity && { ...identity, asked: () => repetition.daemonAsked() };
        try {
            for (;;) {
                if (ending.error !== null) throw ending.error;
                try {
                    return await this.#usable().perform(call, ending, asking);
                } catch (error) {
                    // The error may also be that of the caller's own callback.
                    const pause = error instanceof JunctionError ? repetition.pause(error) : null;
                    if (pause === null) throw error;
                    await ending.pause(pause);
                }
            }
        } finally {
            ending.dispose();
        }
    }

    #usable() {
        if (this.#isClosed) throw closedError();
        if (this.#calling === null || !this.#calling.isUsable) {
            this.#calling?.retire();
            this.#calling = new Calling(this.#path);
        }
        return this.#calling;
    }
}

const GOALS = {
    'signed-in': (snapshot) => snapshot.isSignedIn,
    // A sign-in in progress is not a signed-out session.
    'signed-out': (snapshot) => !snapshot.isSignedIn && snapshot.state !== 'establishing',
    fresh: (snapshot) => snapshot.isFresh,
};

/** Returns the error of a session that does not become fresh before a user or an administrator acts, or null. */
function obstacleTo({ state, flags, isSignedIn, storage, termination }) {
    if (!storage.readable) {
        const message = `the daemon cannot open the stored session: it is ${storage.status}`;
        return new JunctionError('storageUnavailable', message, { remedy: storage.reason });
    }
    if (state === 'terminated') {
        const why = termination === null ? 'it gave no reason' : `${termination.message} (${termination.code})`;
        return new JunctionError('sessionTerminated', `the provider has terminated the session: ${why}`, { termination });
    }
    // The session is not fresh, so its token has expired.
    if (isSignedIn && flags.includes('pendingReauthentication') && state !== 'establishing') {
        return new JunctionError('reauthenticationRequired', 'the provider requires a new credential of the signed-in user');
    }
    return null;
}
