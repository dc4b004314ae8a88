// The rules for repeated calls and connections. Times are in seconds.
import { isNotTaken } from './errors.js';

// The delay before the second retry. The first retry has no delay.
const FIRST = 0.05;
// The longest delay: a restart of the daemon takes a second or two, but it may also be stopped for a week.
const LONGEST = 5;
// The number of repetitions of a call. They cover about one second, in which the daemon restarts.
const MOST = 6;
// How long a connection must last for the next one to come at once. Otherwise a daemon that crashes after each answer
// would be contacted without a delay.
const STEADINESS = LONGEST;

const now = () => performance.now() / 1000;

/** The delay before the next attempt to reach the daemon: none at first, then doubled each time. */
class Backoff {
    #failures = 0;

    succeeded() {
        this.#failures = 0;
    }

    nextDelay() {
        this.#failures += 1;
        if (this.#failures === 1) return 0;
        const whole = Math.min(LONGEST, FIRST * 2 ** Math.min(this.#failures - 2, 16));
        // A random part, so that the apps of one device do not all reconnect at the same moment.
        return whole * (0.5 + Math.random() / 2);
    }
}

/**
 * Decides whether a call is repeated. After a lost connection it is repeated only if that is safe: the daemon did not receive
 * the whole request, or a repetition has the same effect and the daemon has asked no question. After an error with
 * `retryAfter` it is repeated within the caller's patience.
 */
export class Repetition {
    #isRepeatable;
    #backoff = new Backoff();
    #isUnderWay = false;
    #left = MOST;
    #patientUntil;

    constructor(call, patience = 0) {
        if (!(typeof patience === 'number' && patience >= 0)) throw new TypeError('patience is a number of seconds');
        this.#isRepeatable = call.isRepeatable ?? false;
        this.#patientUntil = now() + patience;
    }

    /** Ends repetition: the daemon has asked a question and may act on the answer. */
    daemonAsked() {
        this.#left = 0;
    }

    /** Returns the delay before the repetition, or null if the caller receives the error. */
    pause(error) {
        if (error.retryAfter !== null) {
            // No wait for an attempt that would come after the patience has ended.
            const wait = Math.max(error.retryAfter, FIRST);
            return now() + wait <= this.#patientUntil ? wait : null;
        }
        if (this.#left === 0 || !this.#isHarmless(error)) return null;
        this.#left -= 1;
        this.#isUnderWay = true;
        return this.#backoff.nextDelay();
    }

    #isHarmless(error) {
        if (error.kind === 'connectionLost') return isNotTaken(error) || this.#isRepeatable;
        return error.kind === 'daemonUnreachable' && this.#isUnderWay;
    }
}

/** Decides when a loop reconnects. The loop also waits for a daemon that is not there yet. */
export class Reconnection {
    #backoff = new Backoff();
    #wasConnected = false;
    #steadyFrom = null;

    /** Notes that the daemon has answered on this connection. */
    began() {
        this.#wasConnected = true;
        this.#steadyFrom = now() + STEADINESS;
    }

    /** Returns the delay before the next connection. Throws the error if a new connection would not change it. */
    pause(error) {
        if (this.#steadyFrom !== null && now() >= this.#steadyFrom) this.#backoff.succeeded();
        this.#steadyFrom = null;
        // A lack of resources is permanent before the first success, and temporary after it.
        const isLack = error.kind === 'localFailure' && this.#wasConnected;
        const isTemporary = ['daemonUnreachable', 'connectionLost', 'busy', 'misconfigured'].includes(error.kind);
        if (!isLack && !isTemporary) throw error;
        return Math.max(this.#backoff.nextDelay(), error.retryAfter ?? 0);
    }
}
