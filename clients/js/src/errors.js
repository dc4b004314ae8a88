import { isObject, ifReadable, termination } from './members.js';

// What to do about an error, by kind. The texts are those of the C library.
const REMEDIES = {
    daemonUnreachable: 'start junctiond, or name its socket',
    connectionLost: 'ask for the state before it is done again',
    localFailure: 'raise the limits of this program, or free memory',
    invalidSocketPath: 'correct the path of the socket',
    unreadableAnswer: "see 'junctionctl doctor'",
    requestTooLarge: 'send less',
    timedOut: 'wait longer, or ask for the state',
    cancelled: 'ask for the state before it is done again',
    alreadySignedIn: 'sign out first, or identify the other user',
    invalidCredential: 'get a new token, code or key and sign in with that',
    notSignedIn: 'sign in',
    reauthenticationRequired: 'sign in with a new token for the same user',
    sessionTerminated: 'the account is closed at the provider; sign in as another user',
    providerUnavailable: 'nothing is lost; try again later',
    permissionDenied: "ask for access: the socket's group, or an [[access]] entry of the configuration",
    incompatibleCredential: 'sign out first',
    storageUnavailable: "run 'junctionctl doctor'",
    tokenExpired: 'renew, or wait for the next attempt',
    busy: "let some of this user's requests finish first",
    unsupported: 'see the state for the provider and the scheme',
    misconfigured: "correct it ('junctiond --check-config'), then: systemctl reload junctiond",
    methodNotFound: 'the daemon is older than this library: update it',
    invalidParams: 'correct what was asked for',
};
const OTHER_REMEDY = "see 'junctionctl doctor'";

export const errorCodes = new Map([
    [-32700, 'parseError'],
    [-32600, 'invalidRequest'],
    [-32601, 'methodNotFound'],
    [-32602, 'invalidParams'],
    [-32603, 'internalError'],
    [1001, 'alreadySignedIn'],
    [1002, 'invalidCredential'],
    [1003, 'notSignedIn'],
    [1004, 'reauthenticationRequired'],
    [1005, 'sessionTerminated'],
    [1006, 'providerUnavailable'],
    [1007, 'permissionDenied'],
    [1008, 'incompatibleCredential'],
    [1009, 'storageUnavailable'],
    [1010, 'tokenExpired'],
    [1011, 'busy'],
    [1012, 'unsupported'],
    [1013, 'misconfigured'],
]);

/** Every error of this library. `kind` says which; index.d.ts describes the members. */
export class JunctionError extends Error {
    constructor(kind, message, members = {}) {
        super(message);
        this.kind = kind;
        this.code = members.code ?? null;
        this.retryAfter = members.retryAfter ?? null;
        this.userId = members.userId ?? null;
        this.termination = members.termination ?? null;
        this.capability = members.capability ?? null;
        this.maximum = members.maximum ?? null;
        this.remedy = members.remedy ?? remedy(kind, this);
    }

    get name() {
        return 'JunctionError';
    }
}

// The errors of calls that the daemon did not receive completely. Any call may be repeated after them.
const notTakenErrors = new WeakSet();

export function notTaken() {
    const error = new JunctionError('connectionLost', 'the daemon closed the connection before it took the request');
    notTakenErrors.add(error);
    return error;
}

export function isNotTaken(error) {
    return notTakenErrors.has(error);
}

function remedy(kind, { retryAfter, maximum }) {
    if (retryAfter !== null) return `try again in ${Math.max(1, Math.ceil(retryAfter))} s`;
    if (kind === 'invalidParams' && maximum !== null) return `at most ${maximum} s is possible`;
    return Object.hasOwn(REMEDIES, kind) ? REMEDIES[kind] : OTHER_REMEDY;
}

/** Reads the error of an answer. An unreadable error becomes `internalError`. */
export function errorFromWire(value) {
    const { code, message, data } = isObject(value) ? value : {};
    if (typeof message !== 'string' || !Number.isInteger(code)) {
        return new JunctionError('internalError', "the daemon's error cannot be read");
    }
    const known = isObject(data) ? data : {};
    const kind = text(known.kind) ?? errorCodes.get(code) ?? `error${code}`;
    return new JunctionError(kind, message, {
        code,
        retryAfter: seconds(known.retryAfter),
        maximum: seconds(known.maximum),
        userId: text(known.userId),
        capability: text(known.capability),
        remedy: text(known.remedy),
        termination: ifReadable(termination, known.termination),
    });
}

export function unreadable(why) {
    return new JunctionError('unreadableAnswer', `the daemon's answer cannot be read: ${why}`);
}

export function closedError() {
    return new JunctionError('cancelled', 'it was closed or aborted, so nothing waits for the answer any more');
}

function text(value) {
    return typeof value === 'string' ? value : null;
}

// A number of seconds, or null if it is no usable duration.
function seconds(value) {
    return typeof value === 'number' && value >= 0 && value < 1e15 ? value : null;
}
