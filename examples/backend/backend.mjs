#!/usr/bin/env node
// An app's backend: it signs its own users in to Junction, with Sign-In Tokens.
//
//     backend.mjs JUNCTION-URL TEAM-KEY-FILE ACCOUNTS-FILE    prints its address, and serves until it is ended
//
//     POST /junction/sign-in-token, with the app's own `Authorization: Bearer …`, answers {"user_id", "sign_in_token"}
//
// Only the backend has the team key. The caller's own session decides the user, never a name in the request. Node 18 without
// any package; put TLS in front of it.
import { createHash, timingSafeEqual } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';

class Unavailable extends Error {}

/** An account has a user that cannot be a `client_user_id`. */
class UnusableUser extends Error {}

/** The file of accounts is not a list of objects. */
class UnusableAccounts extends Error {}

/** Returns a text of an answer, or fails if there is none. */
function text(value) {
    if (typeof value !== 'string') throw new Unavailable('an answer that cannot be used');
    return value;
}

/** The three calls of Junction's API that a backend needs. */
class Junction {
    #url;
    #headers;

    constructor(url, teamKey) {
        this.#url = url;
        this.#headers = { 'x-vital-api-key': teamKey, 'content-type': 'application/json' };
    }

    async signInToken(clientUserId) {
        // A path would lead to another place with one of these.
        if (typeof clientUserId !== 'string' || ['', '.', '..'].includes(clientUserId)) throw new UnusableUser();
        const user = await this.#user(clientUserId);
        const [status, answer] = await this.#call('POST', `/v2/user/${user}/sign_in_token`);
        if (status !== 200) throw new Unavailable(`a Sign-In Token: status ${status}`);
        return { user_id: text(answer.user_id), sign_in_token: text(answer.sign_in_token) };
    }

    /** Looks the user up, and creates it if it is missing. */
    async #user(clientUserId) {
        let [status, answer] = await this.#call('GET', `/v2/user/resolve/${encodeURIComponent(clientUserId)}`);
        if (status === 404) {
            [status, answer] = await this.#call('POST', '/v2/user', { client_user_id: clientUserId });
            // Another request has created the user meanwhile; the error names it.
            if (status === 400 && answer?.detail?.user_id) return text(answer.detail.user_id);
        }
        if (status !== 200) throw new Unavailable(`the user: status ${status}`);
        return text(answer.user_id);
    }

    async #call(method, path, body) {
        try {
            const answer = await fetch(this.#url + path, {
                method,
                headers: this.#headers,
                body: body && JSON.stringify(body),
                // A redirect would take the team key to another place.
                redirect: 'error',
                signal: AbortSignal.timeout(10_000),
            });
            return [answer.status, (await answer.json().catch(() => null)) ?? {}];
        } catch (error) {
            throw new Unavailable(error.cause?.code ?? error.name);
        }
    }
}

/** The user of the caller's session. The accounts are read for each request, so a removed one has no access. */
async function userOf(request, accountsFile) {
    const key = /^Bearer +([!-~]+)$/i.exec(request.headers.authorization ?? '')?.[1];
    if (key === undefined) return null;
    const accounts = JSON.parse(await readFile(accountsFile, 'utf8'));
    const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
    if (!Array.isArray(accounts) || !accounts.every(isObject)) throw new UnusableAccounts();
    const digest = Buffer.from(createHash('sha256').update(key).digest('hex'));
    const account = accounts.find(({ keySHA256 }) => {
        const known = Buffer.from(String(keySHA256).toLowerCase());
        // timingSafeEqual throws if the lengths differ.
        return known.length === digest.length && timingSafeEqual(digest, known);
    });
    return account?.user ?? null;
}

async function answerTo(request, junction, accountsFile) {
    if (request.url !== '/junction/sign-in-token') return [404, { error: 'there is no such path' }];
    if (request.method !== 'POST') return [405, { error: 'use POST' }, { Allow: 'POST' }];
    const user = await userOf(request, accountsFile);
    if (user === null) return [401, { error: 'sign in to the app first' }, { 'WWW-Authenticate': 'Bearer' }];
    try {
        return [200, await junction.signInToken(user)];
    } catch (error) {
        if (!(error instanceof Unavailable)) throw error;
        console.error('backend: Junction gave no usable answer:', error.message);
        return [502, { error: 'Junction gives no usable answer; try again later' }];
    }
}

const [url, keyFile, accountsFile] = process.argv.slice(2);
if (process.argv.length !== 5) {
    console.error('usage: backend.mjs JUNCTION-URL TEAM-KEY-FILE ACCOUNTS-FILE');
    process.exit(64);
}
const junction = new Junction(url, (await readFile(keyFile, 'utf8')).trim());
const server = createServer(async (request, response) => {
    const [status, body, headers] = await answerTo(request, junction, accountsFile).catch((error) => {
        console.error('backend: failed:', error.constructor.name);
        return [500, { error: 'the backend failed' }];
    });
    console.error(`backend: ${request.method} ${status}`);
    response.writeHead(status, {
        'Content-Type': 'application/json',
        'Cache-Control': 'no-store',
        Connection: 'close',
        ...headers,
    });
    response.end(JSON.stringify(body));
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
