// The methods of the daemon: their parameters, the readers of their results, and whether they are repeatable. A repeatable
// call has the same effect as one call, so that it is safe after a lost connection.
import { Mismatch } from './members.js';
import { unreadable } from './errors.js';
import { Secret, revealed } from './secret.js';
import * as values from './values.js';

/** Reads the result of a call. */
export function result(call, value) {
    return read(call.read, value);
}

export function changedSnapshot(params) {
    return read(values.snapshot, params?.snapshot);
}

function read(reader, value) {
    try {
        return reader(value);
    } catch (error) {
        throw error instanceof Mismatch ? unreadable(error.message) : error;
    }
}

export const status = () => ({ method: 'session.status', read: values.snapshot, isRepeatable: true });

export const subscribe = (onlyStates) => ({
    method: 'session.subscribe',
    params: onlyStates ? { changes: 'state' } : {},
    read: values.snapshot,
});

export const signIn = (credential) => ({ method: 'session.signIn', params: wire(credential), read: values.snapshot });

export const signOut = () => ({ method: 'session.signOut', read: values.snapshot });

// An identification of a user is repeatable: the daemon does nothing before it has asked for a credential. Without a user it
// is an immediate sign-out.
export const identify = (externalUserId) => ({
    method: 'session.identify',
    params: { externalUserId },
    read: values.identifyResult,
    isRepeatable: externalUserId !== null,
});

export const reconcile = (userId) => ({
    method: 'session.reconcile',
    params: { userId },
    read: values.reconcileResult,
    isRepeatable: true,
});

export const renew = () => ({ method: 'session.renew', read: values.renewResult });

export const authorizationPage = ({ redirectUri, state, codeChallenge }) => ({
    method: 'session.authorizationPage',
    params: { redirectUri, state, codeChallenge: revealed(codeChallenge) },
    read: (value) => values.signInPage(value).url,
    isRepeatable: true,
});

export const token = (minimumValidity = 0) => ({
    method: 'token.get',
    params: minimumValidity === 0 ? {} : { minimumValidity },
    read: values.accessToken,
    isRepeatable: true,
});

export const api = (method, path, { query, headers, body } = {}) => ({
    method: 'api.request',
    params: { method, path, query, headers, ...bodyOf(body) },
    read: values.apiAnswer,
});

export const info = () => ({ method: 'daemon.info', read: values.daemonInfo, isRepeatable: true });

export const whoami = () => ({ method: 'access.whoami', read: values.caller, isRepeatable: true });

export const reload = () => ({ method: 'daemon.reload', read: (value) => values.reloaded(value).pendingRestart });

export const metrics = () => ({
    method: 'daemon.metrics',
    read: (value) => values.metricsText(value).text,
    isRepeatable: true,
});

export const diagnose = () => ({
    method: 'daemon.diagnose',
    read: (value) => values.diagnosis(value).checks,
    isRepeatable: true,
});

export const registerHandler = () => ({ method: 'handler.register', read: () => null });

/** Returns a credential or an answer as it is on the wire. A number is sent as text: JavaScript rounds a large one. */
export function wire(value) {
    if (typeof value !== 'object' || value === null) throw new TypeError('a credential is an object with a scheme');
    const members = Object.entries(value).filter(([, member]) => member !== undefined && member !== null);
    return Object.fromEntries(members.map(([name, member]) => [name, String(revealed(member))]));
}

/** Returns the answer to a renewal: a text is an auth token, and no value means *unable*. */
export function decision(value) {
    if (value === undefined || value === null) return { action: 'unableToRetrieveAuthToken' };
    if (typeof value === 'string' || value instanceof Secret) {
        return { action: 'renewWithAuthToken', authToken: revealed(value) };
    }
    if (typeof value.action !== 'string') throw new TypeError('a session handler returns an answer, a token or nothing');
    return wire(value);
}

function bodyOf(body) {
    if (body === undefined || body === null) return {};
    if (typeof body === 'string') return { body };
    const bytes = Buffer.from(body);
    const text = bytes.toString();
    return Buffer.from(text).equals(bytes) ? { body: text } : { bodyBase64: bytes.toString('base64') };
}
