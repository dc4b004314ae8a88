// What needs no daemon, and what a scripted peer shows.
import assert from 'node:assert/strict';
import { getEventListeners, once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { Client, JunctionError, Secret } from 'junctiond';
import * as calls from '../src/calls.js';
import { Ending } from '../src/ending.js';
import { errorCodes } from '../src/errors.js';
import { time } from '../src/members.js';
import { LineSplitter, messages, requestLine } from '../src/messages.js';
import { socketPath } from '../src/place.js';
import { rejects } from './stage.js';

const PROTOCOL = readFileSync(new URL('../../../docs/protocol.md', import.meta.url), 'utf8');

test('a secret is not shown', () => {
    const secret = new Secret('s3cret');

    assert.deepEqual([inspect({ secret }), JSON.stringify({ secret }), `${secret}`].filter((text) => text.includes('s3cret')), []);
    assert.equal(new Secret(secret).reveal(), 's3cret');
});

test('a time has any offset, and an impossible time cannot be read', () => {
    const read = (text) => time(text)?.toISOString();

    assert.equal(read('2026-11-22T10:00:00.1234Z'), '2026-11-22T10:00:00.123Z');
    assert.equal(read('2026-11-22T10:00:00+05:30'), '2026-11-22T04:30:00.000Z');
    assert.equal(read('2016-12-31T23:59:60Z'), '2017-01-01T00:00:00.000Z');
    assert.equal(read('9999-12-31t23:59:59z'), '9999-12-31T23:59:59.000Z');
    assert.equal(read('0001-01-01T00:00:00Z'), '0001-01-01T00:00:00.000Z');
    for (const text of ['2026-02-30T00:00:00Z', '2026-13-01T00:00:00Z', '2026-01-01T24:00:00Z', '2026-01-01T00:00:61Z', '2026-01-01', 5]) {
        assert.equal(time(text), undefined);
    }
});

test('lines are split at any byte, and blank lines are skipped', () => {
    const bytes = Buffer.from('{"a":"ä"}\r\n\n \t\r\n[1]\nrest');
    for (let size = 1; size <= bytes.length; size += 1) {
        const splitter = new LineSplitter();
        const lines = [];
        for (let at = 0; at < bytes.length; at += size) {
            lines.push(...[...splitter.lines(bytes.subarray(at, at + size))].map((line) => line.toString().trim()));
        }
        assert.deepEqual(lines, ['{"a":"ä"}', '[1]']);
    }
});

test('a line of the daemon that is no message is an error without the line', () => {
    const lines = ['nonsense s3cret', '5', '[]', 'null', '{}', '{"method":"a"}', '{"jsonrpc":"2.0","method":5}', '\ufeff{}'];
    lines.push('{"jsonrpc":"2.0","method":"a","id":{}}', '{"id":1,"result":"\\ud800"}', '['.repeat(100_000));
    for (const line of lines) {
        assert.throws(() => messages(Buffer.from(line)), (error) => {
            assert.equal(error.kind, 'unreadableAnswer');
            return !error.message.includes('s3cret');
        });
    }
    assert.equal(messages(Buffer.from('{"id":1,"result":"\\\\ud800 \\ud83d\\ude00"}'))[0].outcome, '\\ud800 😀');
});

test('a request that JSON cannot express is a TypeError', async () => {
    assert.throws(() => requestLine(1, 'token.get', { minimumValidity: NaN }), TypeError);
    assert.throws(() => requestLine(1, 'session.reconcile', { userId: '\ud800' }), TypeError);
    const client = new Client({ socket: '/nowhere' });
    await assert.rejects(client.signIn('a token'), TypeError);
    await assert.rejects(client.status({ timeout: '5' }), TypeError);
    await assert.rejects(client.status({ timeout: -1 }), TypeError);
    await assert.rejects(client.token({ patience: 'abc' }), TypeError);
    await assert.rejects(client.wait('toString'), TypeError);
    await assert.rejects(client.request('POST', '/x', { body: 5 }), TypeError);
});

test('a wrong argument leaves no timer', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const client = new Client({ socket: '/nowhere' });
    const before = timers();

    await assert.rejects(client.status({ signal: new AbortController() }), TypeError);
    await assert.rejects(client.token({ patience: -1 }), TypeError);

    assert.equal(timers(), before);
});

test('a path that cannot be a socket is an error', () => {
    for (const socket of ['', `/${'x'.repeat(107)}`, '/a\0b']) {
        assert.throws(() => new Client({ socket }), { kind: 'invalidSocketPath' });
    }
});

test('a timeout beyond the longest of a timer does not fire early', async () => {
    const ending = new Ending(2 ** 31 / 1000 + 1);
    await ending.pause(0);
    assert.equal(ending.error, null);
    ending.dispose();
});

test('an error is an Error with a remedy', () => {
    const error = new JunctionError('busy', 'too many', { retryAfter: 2.2 });
    assert.ok(error instanceof Error);
    assert.deepEqual([error.name, error.remedy, error.code], ['JunctionError', 'try again in 3 s', null]);
    assert.equal(new JunctionError('toString', 'a kind of a newer daemon').remedy, "see 'junctionctl doctor'");
});

// The page of the protocol and this library say the same.

test('the calls that are repeated are those of the protocol', () => {
    const told = PROTOCOL.split('written, no answer: `session.status`')[1].split('\n')[0];
    const repeatable = new Set([...told.matchAll(/`(\w+\.\w+)`/g)].map((match) => match[1]));
    repeatable.add('session.status').delete('rpc.discover');
    const page = { redirectUri: '', state: '', codeChallenge: '' };
    const ours = [
        calls.status(), calls.subscribe(true), calls.signIn({ scheme: 'device' }), calls.signOut(), calls.reconcile(null),
        calls.renew(), calls.authorizationPage(page), calls.token(), calls.api('GET', '/'), calls.info(), calls.whoami(),
        calls.reload(), calls.metrics(), calls.diagnose(), calls.registerHandler(),
    ];
    assert.deepEqual(new Set(ours.filter((call) => call.isRepeatable).map((call) => call.method)), repeatable);
    assert.ok(calls.identify('anna').isRepeatable && !calls.identify(null).isRepeatable);
});

test('the kinds of errors are those of the protocol', () => {
    const rows = new Map([...PROTOCOL.matchAll(/^\| (\d{4}) \| `(\w+)` \|/gm)].map(([, code, kind]) => [Number(code), kind]));
    assert.deepEqual(new Map([...errorCodes].filter(([code]) => code > 0)), rows);
});

// A peer that follows a script.

async function withPeer(serve, story) {
    const folder = mkdtempSync(join(tmpdir(), 'jd-'));
    const socket = join(folder, 'd.sock');
    const ends = [];
    const server = net.createServer((end) => {
        ends.push(end);
        end.on('error', () => {});
        const lines = createInterface({ input: end })[Symbol.asyncIterator]();
        const hear = async () => JSON.parse((await lines.next()).value);
        serve({ end, hear, say: (message) => end.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`) });
    });
    server.listen(socket);
    await once(server, 'listening');
    try {
        await story(new Client({ socket }));
    } finally {
        for (const end of ends) end.destroy();
        server.close();
        rmSync(folder, { recursive: true });
    }
}

function question(id, milliseconds = 3_600_000) {
    const deadline = new Date(Date.now() + milliseconds).toISOString();
    const params = { renewalId: String(id), reason: 'expiring', userId: 'anna', expiresAt: null, deadline };
    return { id, method: 'session.willRenewAccessToken', params };
}

/** Runs a handler that never answers question 1, and resolves with the peer's last result. */
function thinking(serve) {
    return new Promise((resolve, reject) => {
        let connections = 0;
        const peer = async (stage) => {
            try {
                stage.say({ id: (await stage.hear()).id, result: { registered: true } });
                const result = await serve(stage, (connections += 1));
                if (result !== undefined) finish(result);
            } catch (error) {
                reject(error);
            }
        };
        const abort = new AbortController();
        let thinks;
        const isThinking = new Promise((begun) => (thinks = begun));
        let wasAborted;
        const aborted = new Promise((done) => (wasAborted = done));
        const decide = async (request, { signal }) => {
            if (request.renewalId !== '1') return 'a-token';
            thinks();
            await once(signal, 'abort');
            wasAborted();
            return 'too-late';
        };
        const finish = async (result) => {
            await aborted;
            abort.abort();
            resolve(result);
        };
        const story = (client) => client.handleRenewals(decide, { signal: abort.signal, onError: () => {} });
        withPeer((stage) => peer({ ...stage, isThinking }), story).catch(reject);
    });
}

test('a new question aborts the handler of the previous question', async () => {
    const result = await thinking(async ({ hear, say, isThinking }) => {
        say(question(1));
        await isThinking;
        say(question(2));
        return hear();
    });
    assert.deepEqual(result, { jsonrpc: '2.0', id: 2, result: { action: 'renewWithAuthToken', authToken: 'a-token' } });
});

test('a handler without an answer at the deadline is aborted and counts as unable', async () => {
    const result = await thinking(async ({ hear, say }) => {
        say(question(1, 100));
        return hear();
    });
    assert.deepEqual(result.result, { action: 'unableToRetrieveAuthToken' });
});

test('a lost connection aborts the handler, which registers again', async () => {
    const result = await thinking(async ({ end, hear, say, isThinking }, connection) => {
        if (connection === 2) {
            say(question(2));
            return hear();
        }
        say(question(1));
        await isThinking;
        end.destroy();
        return undefined;
    });
    assert.equal(result.id, 2);
});

/** Runs a handler for one question, and resolves with its answer. */
function answerOf(decide, onError) {
    return new Promise((resolve, reject) => {
        const abort = new AbortController();
        const serve = async ({ hear, say }) => {
            say({ id: (await hear()).id, result: { registered: true } });
            say(question(1));
            resolve((await hear()).result);
            abort.abort();
        };
        withPeer(serve, (client) => client.handleRenewals(decide, { signal: abort.signal, onError })).catch(reject);
    });
}

test('an answer of a handler that cannot be sent counts as unable', async () => {
    const errors = [];

    for (const text of ['half of a pair: \ud800', 'x'.repeat(1 << 20)]) {
        const answer = await answerOf(() => text, (error) => errors.push(error));
        assert.deepEqual(answer, { action: 'unableToRetrieveAuthToken' });
    }

    assert.deepEqual(errors.map((error) => error.kind ?? error.name), ['TypeError', 'requestTooLarge']);
});

test('an exception of onError does not end the program', async () => {
    const decide = () => {
        throw new RangeError('the backend does not answer');
    };
    const warned = once(process, 'warning');

    for (const onError of [() => decide(), async () => decide()]) {
        assert.deepEqual(await answerOf(decide, onError), { action: 'unableToRetrieveAuthToken' });
    }

    assert.match((await warned)[0].message, /onError/);
});

test('an exception of onRegistered rejects the handler', async () => {
    const serve = async ({ hear, say }) => say({ id: (await hear()).id, result: { registered: true } });
    const fail = () => {
        throw new RangeError('the app cannot start');
    };
    for (const onRegistered of [() => fail(), async () => fail()]) {
        await withPeer(serve, (client) => assert.rejects(client.handleRenewals(() => null, { onRegistered }), RangeError));
    }
});

test('a credential that is not valid Unicode is refused at once and rejects identify', async () => {
    let refused;
    const serve = async ({ hear, say }) => {
        await hear();
        say({ id: 'q', method: 'session.authenticate', params: { externalUserId: 'anna' } });
        refused(await hear());
    };
    await withPeer(serve, async (client) => {
        const answer = new Promise((resolve) => (refused = resolve));
        await assert.rejects(client.identify('anna', () => ({ scheme: 'signInToken', token: '\ud800' })), TypeError);
        const { id, error } = await answer;
        assert.deepEqual([id, error.code], ['q', 1002]);
        client.close();
    });
});

test('a call whose end has come sends nothing', async () => {
    const methods = [];
    const serve = async ({ hear, say }) => {
        let request;
        do {
            request = await hear();
            methods.push(request.method);
        } while (request.method !== 'daemon.metrics');
        say({ id: request.id, result: { text: '' } });
    };
    await withPeer(serve, async (client) => {
        await rejects(client.signOut({ signal: AbortSignal.abort() }), 'cancelled');
        await rejects(client.signOut({ timeout: 0 }), 'timedOut');
        assert.equal(await client.metrics(), '');
        client.close();
    });
    assert.deepEqual(methods, ['daemon.metrics']);
});

function snapshot(members) {
    return { revision: 1, changedAt: '2026-11-29T00:00:00Z', state: 'established', flags: ['signedIn'], provider: 'junction', ...members };
}

test('a wait for a fresh session fails at once if waiting cannot help', async () => {
    const reason = 'unlock the TPM';
    const termination = { code: '1205', message: 'the user is banned', at: '2026-11-29T00:00:00Z' };
    const obstacles = {
        sessionTerminated: { state: 'terminated', flags: [], termination },
        storageUnavailable: { storage: { sealedWith: 'tpm', durable: true, status: 'locked', reason } },
        reauthenticationRequired: { state: 'tokenExpired', flags: ['signedIn', 'pendingReauthentication'] },
    };
    const errors = [];
    for (const [kind, obstacle] of Object.entries(obstacles)) {
        // A wait that continues after the obstacle connects again and finds a fresh session.
        const snapshots = [snapshot(obstacle), snapshot()];
        const serve = async ({ end, hear, say }) => {
            say({ id: (await hear()).id, result: snapshots.shift() });
            end.end();
        };

        await withPeer(serve, async (client) => errors.push(await rejects(client.wait('fresh'), kind)));
    }
    assert.equal(errors[0].termination.code, '1205');
    assert.match(errors[0].message, /the user is banned/);
    assert.equal(errors[1].remedy, reason);
});

test('many calls with one signal add one listener to it, and its abort ends them all', async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const listeners = () => getEventListeners(signal, 'abort').length;
    let left = 20;
    const serve = async ({ hear, say }) => {
        for (; left > 0; left -= 1) say({ id: (await hear()).id, result: { text: '' } });
    };
    await withPeer(serve, async (client) => {
        const answered = Array.from({ length: left }, () => client.metrics({ signal }));
        assert.equal(listeners(), 1);
        await Promise.all(answered);
        assert.equal(listeners(), 0);

        const unanswered = [client.metrics({ signal }), client.metrics({ signal }), client.wait('fresh', { signal })];
        controller.abort();

        for (const call of unanswered) await rejects(call, 'cancelled');
        assert.equal(listeners(), 0);
        client.close();
    });
});

test('an answer that arrived before a failed write is delivered, and the unsent call is repeated', async () => {
    let connections = 0;
    let makeSecondCall;
    const serve = async ({ end, hear, say }) => {
        connections += 1;
        const { id } = await hear();
        if (connections === 1) {
            // In one turn of the event loop, so that the client has not read the answer when its write fails.
            const answer = { jsonrpc: '2.0', id, result: { pendingRestart: ['a'] } };
            end.write(`${JSON.stringify(answer)}\n`, () => {
                end.destroy();
                makeSecondCall();
            });
        } else {
            say({ id, result: { status: 200, headers: {}, body: '' } });
        }
    };
    await withPeer(serve, async (client) => {
        const second = new Promise((resolve) => {
            makeSecondCall = () => resolve(client.request('POST', '/once'));
        });

        assert.deepEqual(await client.reload(), ['a']);
        assert.equal((await second).status, 200);
        client.close();
    });
    assert.equal(connections, 2);
});

test('patience repeats a call after the time that the daemon says', async () => {
    let asked = 0;
    const serve = async ({ hear, say }) => {
        for (;;) {
            const { id } = await hear();
            asked += 1;
            if (asked === 1) say({ id, error: { code: 1011, message: 'busy', data: { kind: 'busy', retryAfter: 0.01 } } });
            else say({ id, result: { accessToken: 't', tokenType: 'Bearer', expiresAt: '2100-01-01T00:00:00Z', userId: 'anna' } });
        }
    };
    await withPeer(serve, async (client) => {
        assert.equal((await client.token({ patience: 60 })).userId, 'anna');
        client.close();
    });
    assert.equal(asked, 2);
    await withPeer(serve, async (client) => {
        asked = 0;
        await rejects(client.token(), 'busy');
        client.close();
    });
});

test('the socket is the one in the table of all clients', (t) => {
    const lines = readFileSync(new URL('../../conformance/sockets.txt', import.meta.url), 'utf8').split('\n');
    const rows = lines.filter((line) => line !== '' && !line.startsWith('#')).map((line) => line.split(/ +/).map(cell));
    const saved = { ...process.env };
    t.after(() => Object.assign(process.env, saved));
    assert.ok(rows.length >= 20);

    for (const [socket, instance, path, name, present, expected] of rows) {
        const folder = mkdtempSync(join(tmpdir(), 'sockets-'));
        t.after(() => rmSync(folder, { recursive: true }));
        mkdirSync(join(folder, 'junctiond'));
        if (present) writeFileSync(join(folder, 'junctiond', present), '');
        for (const [variable, value] of Object.entries({ JUNCTIOND_SOCKET: path, JUNCTIOND_INSTANCE: name, XDG_RUNTIME_DIR: folder })) {
            if (value === undefined) delete process.env[variable];
            else process.env[variable] = value;
        }

        if (expected === 'invalid') {
            assert.throws(() => socketPath(socket, instance), { kind: 'invalidSocketPath' });
        } else {
            assert.equal(socketPath(socket, instance), expected.replace('RUNTIME', folder));
        }
    }
    for (const variable of ['JUNCTIOND_SOCKET', 'JUNCTIOND_INSTANCE', 'XDG_RUNTIME_DIR']) delete process.env[variable];
});

function cell(text) {
    if (text === '-') return undefined;
    return text === 'EMPTY' ? '' : text.replace('X64', 'x'.repeat(64)).replace('X65', 'x'.repeat(65));
}
