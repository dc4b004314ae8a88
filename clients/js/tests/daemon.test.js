// The client against the built daemon.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { inspect } from 'node:util';
import { Client } from 'junctiond';
import { asking, Daemon, junction, rejects, Sandbox } from './stage.js';

let sandbox;
before(async () => {
    sandbox = await Sandbox.start();
});
after(() => sandbox.close());

/** A test with a daemon and a client of its own. */
function withDaemon(name, story, configuration = junction) {
    test(name, async () => {
        await sandbox.post('/sandbox/reset');
        const daemon = new Daemon(configuration(sandbox));
        try {
            await daemon.start();
            const client = new Client({ socket: daemon.socket });
            await story({ daemon, client });
            client.close();
        } finally {
            await daemon.close();
        }
    });
}

async function signIn(client) {
    const user = await sandbox.newUser('anna');
    await client.signIn(await sandbox.credential(user));
    return user;
}

const next = async (watch) => (await watch.next()).value;

async function runs(code, environment) {
    const program = spawn(process.execPath, ['--input-type=module', '-e', code], {
        cwd: new URL('..', import.meta.url),
        env: { ...process.env, ...environment },
        stdio: ['ignore', 'pipe', 'inherit'],
    });
    let printed = '';
    program.stdout.on('data', (data) => (printed += data));
    const [status] = await once(program, 'close');
    assert.equal(status, 0);
    return printed;
}

withDaemon('signs in and out', async ({ client }) => {
    const user = await sandbox.newUser('anna');
    assert.equal((await client.status()).state, 'notLoggedIn');

    const snapshot = await client.signIn(await sandbox.credential(user));

    assert.deepEqual([snapshot.userId, snapshot.isSignedIn, snapshot.isFresh], [user, true, true]);
    assert.ok(snapshot.accessToken.expiresAt > snapshot.accessToken.issuedAt);
    assert.ok(snapshot.storage.durable && snapshot.storage.readable && snapshot.json.userId === user);
    assert.equal((await client.reconcile(user)).action, 'none');
    assert.equal((await client.signOut()).state, 'notLoggedIn');
    const error = await rejects(client.token(), 'notSignedIn');
    assert.deepEqual([error.code, error.remedy], [1003, 'sign in']);
});

withDaemon('a token is good at the provider and is not shown', async ({ client }) => {
    const user = await signIn(client);

    const token = await client.token({ minimumValidity: 60 });

    assert.deepEqual([token.userId, token.authorization], [user, `Bearer ${token.token.reveal()}`]);
    for (const shown of [inspect(token), JSON.stringify(token), `${token.token}`]) {
        assert.ok(!shown.includes(token.token.reveal()));
    }
    const headers = { Authorization: token.authorization };
    assert.equal((await fetch(`${sandbox.url}/v2/user/${user}`, { headers })).status, 200);
});

withDaemon('the daemon makes an API call', async ({ client }) => {
    const user = await signIn(client);

    const answer = await client.request('GET', '/v2/user/:userId');

    assert.ok(answer.ok && answer.body.length > 0);
    assert.equal(answer.json().user_id, user);
    assert.equal((await client.request('GET', `/v2/user/${user}/nothing`)).status, 404);
});

withDaemon('an error has the members that the daemon sent', async ({ client }) => {
    const anna = await signIn(client);
    const bert = await sandbox.newUser('bert');

    assert.equal((await rejects(client.signIn(await sandbox.credential(bert)), 'alreadySignedIn')).userId, anna);
    const error = await rejects(client.token({ minimumValidity: 86400 }), 'invalidParams');
    assert.ok(error.maximum > 0 && error.maximum < 86400);
    assert.equal(error.remedy, `at most ${error.maximum} s is possible`);
    await rejects(client.request('GET', `/v2/user/${bert}`), 'permissionDenied');
    await client.signOut();
    await rejects(client.signIn({ scheme: 'linkCode', code: 'nothing like it' }), 'invalidCredential');
});

withDaemon('identify calls its callback only if the daemon needs a credential', async ({ client }) => {
    const users = { 'anna@example.com': await sandbox.newUser('anna'), 'bert@example.com': await sandbox.newUser('bert') };
    const asked = [];
    const credential = async (name) => {
        asked.push(name);
        if (!(name in users)) throw new RangeError('the backend does not know this user');
        return sandbox.credential(users[name]);
    };

    assert.equal((await client.identify('anna@example.com', credential)).outcome, 'signedIn');
    assert.equal((await client.identify('anna@example.com', credential)).outcome, 'unchanged');
    assert.equal((await client.identify('bert@example.com', credential)).outcome, 'switched');
    await assert.rejects(client.identify('carl@example.com', credential), RangeError);
    await rejects(client.identify('carl@example.com'), 'invalidCredential');
    await rejects(client.identify('carl@example.com', () => null), 'invalidCredential');
    assert.equal((await client.status()).externalUserId, 'bert@example.com');
    assert.equal((await client.identify(null)).outcome, 'signedOut');
    assert.deepEqual(asked, ['anna@example.com', 'bert@example.com', 'carl@example.com']);
});

withDaemon('watchState has a snapshot for a sign-in and none for a renewal or a restart', async ({ client, daemon }) => {
    const states = client.watchState();
    assert.equal((await next(states)).state, 'notLoggedIn');
    await signIn(client);
    let snapshot;
    while ((snapshot = await next(states)).state !== 'established') assert.equal(snapshot.state, 'establishing');
    assert.equal((await client.renew()).snapshot.accessToken.generation, 2);
    assert.equal((await client.renew()).accessToken.generation, 3);

    const following = states.next();
    await daemon.kill();
    await daemon.start();
    await client.signOut();

    assert.equal((await following).value.state, 'notLoggedIn');
    await states.return();
});

withDaemon('watch continues after a restart of the daemon', async ({ client, daemon }) => {
    const abort = new AbortController();
    const watch = client.watch({ signal: abort.signal });
    const user = await signIn(client);
    while (!(await next(watch)).isFresh);

    await daemon.kill();
    await daemon.start();

    assert.equal((await next(watch)).userId, user);
    await client.signOut();
    while ((await next(watch)).isSignedIn);
    const last = watch.next();
    abort.abort();
    await rejects(last, 'cancelled');
    assert.deepEqual(await watch.next(), { done: true, value: undefined });
});

withDaemon('return ends a pending next of a watch', async ({ client }) => {
    const watch = client.watch();
    assert.equal((await next(watch)).state, 'notLoggedIn');
    const pending = watch.next();

    await watch.return();

    assert.equal((await pending).done, true);
});

withDaemon('wait returns when the goal is reached', async ({ client }) => {
    await rejects(client.wait('signed-in', { timeout: 0.05 }), 'timedOut');
    await assert.rejects(client.wait('sober'), TypeError);

    const waiting = client.wait('fresh');
    const user = await signIn(client);

    assert.equal((await waiting).userId, user);
    assert.ok((await client.wait((snapshot) => snapshot.userId === user)).isSignedIn);
});

withDaemon('four hundred calls share one connection', async ({ client }) => {
    const user = await signIn(client);

    const tokens = await Promise.all(Array.from({ length: 400 }, () => client.token()));

    assert.ok(tokens.every((token) => token.userId === user));
    assert.match(await client.metrics(), /^junctiond_connections 1$/m);
});

withDaemon('a timeout ends the wait for a stopped daemon, and the connection stays usable', async ({ client, daemon }) => {
    const user = await signIn(client);
    await daemon.pause();

    await rejects(client.status({ timeout: 0.05 }), 'timedOut');
    await rejects(client.token({ signal: AbortSignal.timeout(50) }), 'cancelled');
    daemon.goOn();

    assert.equal((await client.token()).userId, user);
});

withDaemon('a closed client ends its calls', async ({ client, daemon }) => {
    await client.status();
    await daemon.pause();
    const waiting = [client.status(), client.status(), client.signOut()];

    client.close();

    for (const call of waiting) await rejects(call, 'cancelled');
    await rejects(client.status(), 'cancelled');
    daemon.goOn();
});

withDaemon('a program that does not close its client ends', async ({ daemon }) => {
    const code = `import { Client } from 'junctiond';
        const client = new Client();
        const watch = client.watch();
        const { value } = await watch.next();
        console.log(value.state, (await client.status()).state);`;

    assert.equal(await runs(code, { JUNCTIOND_SOCKET: daemon.socket }), 'notLoggedIn notLoggedIn\n');
});

withDaemon('the daemon describes itself and its caller', async ({ client, daemon }) => {
    const info = await client.info();
    assert.deepEqual([info.name, info.provider, info.protocolVersion, info.pid], ['junctiond', 'junction', 1, daemon.process.pid]);
    const caller = await client.whoami();
    assert.deepEqual([caller.user, caller.process], [process.getuid(), process.pid]);
    assert.ok(caller.capabilities.includes('manage'));
    assert.deepEqual(await client.reload(), []);
    assert.ok((await client.diagnose()).every((check) => ['ok', 'note', 'problem'].includes(check.verdict)));
    const page = { redirectUri: 'http://127.0.0.1:1/', state: 's', codeChallenge: 'c'.repeat(43) };
    await rejects(client.authorizationPage(page), 'unsupported');
});

// What the README prints is true.

const BLOCKS = [...readFileSync(new URL('../README.md', import.meta.url), 'utf8').matchAll(/```js\n(.*?)```/gs)].map(
    (match) => match[1],
);
const CLIENT = "import { Client } from 'junctiond';\nconst junction = new Client();\n";

withDaemon('the first block of the README runs as printed', async ({ client, daemon }) => {
    const environment = { JUNCTIOND_SOCKET: daemon.socket };
    const before = await runs(BLOCKS[0], environment);
    assert.match(before, /^The session is notLoggedIn\n/);
    assert.match(before, /\nnotLoggedIn no user\n$/);

    const user = await signIn(client);

    const after = await runs(BLOCKS[0], environment);
    assert.ok(after.includes(`A token of ${user} until `) && after.endsWith(`established ${user}\n`));
});

withDaemon('the API is called as the README prints', async ({ client, daemon }) => {
    const user = await signIn(client);
    const environment = { JUNCTIOND_SOCKET: daemon.socket };

    assert.ok((await runs(CLIENT + BLOCKS[1], environment)).includes(user));
    assert.equal(await runs(`const API = '${sandbox.url}';\n${CLIENT}${BLOCKS[2]}`, environment), '200\n');
});

withDaemon('a backend is asked as the README prints', async ({ daemon }) => {
    const credential = await sandbox.credential(await sandbox.newUser('anna'));
    const standIn = `const backend = { signInToken: async () => ${JSON.stringify(credential.token)} };
        const serveTheApp = async () => console.log((await junction.status()).externalUserId);\n`;

    assert.equal(await runs(standIn + BLOCKS[3], { JUNCTIOND_SOCKET: daemon.socket }), 'anna@example.com\n');
});

test('without a daemon a call fails at once', async () => {
    const error = await rejects(new Client({ socket: '/nowhere/rpc' }).status(), 'daemonUnreachable');
    assert.match(error.message, /there is no socket/);
});

// A daemon that asks.

withDaemon(
    'a session handler decides how a token is renewed',
    async ({ client }) => {
        await client.signIn({ scheme: 'userLogin', userId: 'anna' });
        const { generation } = (await client.status()).accessToken;
        const abort = new AbortController();
        const requests = [];
        let handling;
        await new Promise((onRegistered) => {
            const decide = (request) => {
                requests.push(request);
                return { action: 'renew' };
            };
            handling = client.handleRenewals(decide, { signal: abort.signal, onRegistered });
        });

        assert.ok((await client.renew()).accessToken.generation > generation);

        abort.abort();
        await handling;
        assert.deepEqual([requests[0].userId, requests[0].reason], ['anna', 'requested']);
        assert.ok(requests[0].deadline > new Date());
    },
    asking,
);

withDaemon(
    'a session handler that throws counts as unable',
    async ({ client }) => {
        await client.signIn({ scheme: 'userLogin', userId: 'anna' });
        const abort = new AbortController();
        const errors = [];
        let handling;
        await new Promise((onRegistered) => {
            const decide = () => {
                throw new Error('the backend is offline');
            };
            const onError = (error) => errors.push(error.message);
            handling = client.handleRenewals(decide, { signal: abort.signal, onRegistered, onError });
        });

        const error = await rejects(client.renew(), 'providerUnavailable');

        abort.abort();
        await handling;
        assert.ok(error.retryAfter > 0);
        assert.deepEqual(errors, ['the backend is offline']);
        assert.equal((await client.status()).renewal.phase, 'postponed');
    },
    asking,
);
