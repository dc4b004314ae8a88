// A program that the compiler has to accept. Each line below `@ts-expect-error` has to be refused.
import { Client, JunctionError, Secret, type Credential, type Snapshot } from 'junctiond';

const junction: Client = new Client({ socket: '/run/junctiond/junctiond.sock', timeout: 5 });

export async function main(signal: AbortSignal): Promise<void> {
    const snapshot: Snapshot = await junction.status({ timeout: 1, signal });
    const expiry: Date | undefined = snapshot.accessToken?.expiresAt;
    const token = await junction.token({ minimumValidity: 60, patience: 10 });
    const header: string = token.authorization;
    for await (const each of junction.watchState({ signal })) {
        switch (each.state) {
            case 'established':
            case 'a state of a newer daemon':
                break;
        }
    }
    for await (const each of junction.watch({ signal })) {
        if (each.userId !== null && (await junction.reconcile('anna')).action === 'none') break;
    }
    const credential: Credential = { scheme: 'signInToken', token: new Secret('t') };
    await junction.signIn(credential);
    await junction.identify('anna', async (user, { signal }) => (signal.aborted ? null : credential));
    await junction.identify(null);
    await junction.handleRenewals(async (request) => (request.userId === 'anna' ? 'a-token' : null), { signal });
    await junction.handleRenewals(() => ({ action: 'renewWithSignature', signature: 's', sequence: 1n }));
    const answer = await junction.request('POST', '/v2/x', { query: { a: 'b' }, body: new Uint8Array(1) });
    console.log(expiry, header, answer.json().name, answer.body.length);
    try {
        await junction.renew();
    } catch (error) {
        if (error instanceof JunctionError && error.kind === 'busy') {
            const seconds: number | null = error.retryAfter;
            const advice: string = error.remedy;
            console.log(seconds, advice);
        }
    }

    // @ts-expect-error A secret is no string.
    const text: string = token.token;
    // @ts-expect-error A scheme has its own members.
    await junction.signIn({ scheme: 'linkCode', token: 't' });
    // @ts-expect-error An app without a user says so with null.
    await junction.reconcile();
    // @ts-expect-error A goal is one of three words.
    await junction.wait('sober');
    // @ts-expect-error A member may be null.
    const user: string = snapshot.userId;
    console.log(text, user);
}
