#!/usr/bin/env node
// An app that decides who is signed in on this device. See README.md beside this file.
//
//     kiosk-app.mjs USER-FILE BACKEND-AUTH-FILE
//
// USER-FILE has the user of the app, and is empty while the app has no user. $BACKEND is the address of the app's backend, and
// BACKEND-AUTH-FILE the app's own session there. SIGHUP says that USER-FILE has changed.
import { readFile } from 'node:fs/promises';
import { Client, JunctionError } from 'junctiond';

const [userFile, authFile] = process.argv.slice(2);
const read = async (file) => (await readFile(file, 'utf8')).trim();
const junction = new Client();

/** Called only if the daemon needs a credential: not on every start. */
async function credential(user, { signal }) {
    console.log(`asking the backend about ${user}`);
    const headers = { Authorization: `Bearer ${await read(authFile)}` };
    const answer = await fetch(`${process.env.BACKEND}/junction/sign-in-token`, { method: 'POST', headers, signal, redirect: 'error' });
    if (!answer.ok) throw new Error(`the backend answered ${answer.status}`);
    // The whole answer: the daemon then also compares its user_id with that of the token.
    return { scheme: 'signInToken', token: await answer.text() };
}

/** Makes the user of the app the signed-in one. */
async function identify() {
    const user = (await read(userFile)) || null;
    const { flags, userId, externalUserId } = await junction.status();
    if (flags.includes('useApiKey')) console.log(`migrating ${userId} from an API key`);
    const { outcome, snapshot } = await junction.identify(user, credential, { timeout: 60 });
    console.log(`${externalUserId ?? 'no user'} -> ${user ?? 'no user'}: ${outcome}`);
    // What is left to do, which should be nothing.
    const { action } = await junction.reconcile(user === null ? null : snapshot.userId);
    console.log(`reconcile: ${action}`);
}

/** Tries again after an error that passes. The app goes on meanwhile: the session of before stays. */
async function identifyUntilDone() {
    for (;;) {
        try {
            return await identify();
        } catch (error) {
            console.log(`not identified: ${error instanceof JunctionError ? error.kind : error.message}`);
            await new Promise((resolve) => setTimeout(resolve, 1000 * (error.retryAfter ?? 5)));
        }
    }
}

// One after the other, so that the newest user of the app is signed in at the end.
let turn = Promise.resolve();
const identifyNext = () => (turn = turn.then(identifyUntilDone));
process.on('SIGHUP', identifyNext);
process.on('SIGTERM', () => process.exit(0));

identifyNext();
for await (const { state, userId, termination } of junction.watchState()) {
    // A real app shows a screen for each state.
    console.log(`state: ${state}${userId === null ? '' : ` ${userId}`}${termination === null ? '' : ` (${termination.message})`}`);
}
