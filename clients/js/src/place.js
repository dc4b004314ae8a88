import { existsSync } from 'node:fs';
import { env } from 'node:process';
import { JunctionError } from './errors.js';

// The size of sun_path in sockaddr_un, without the terminating zero.
const LONGEST = 107;
// The name becomes a part of a path.
const ALLOWED = /^(?!\.)[A-Za-z0-9._-]{1,64}$/;
const RULE = "the name of an instance has 1 to 64 letters (a-z, A-Z), digits, '-', '_' and '.', and does not begin with '.'";

/**
 * Returns the path by the first of: the given path, the given instance, $JUNCTIOND_SOCKET, $JUNCTIOND_INSTANCE, the instance
 * junctiond.
 */
export function socketPath(explicit, instance) {
    if (explicit != null && instance != null) throw invalid('name the socket or the instance, not both');
    const path = explicit ?? ((instance == null && env.JUNCTIOND_SOCKET) || of(instance ?? (env.JUNCTIOND_INSTANCE || 'junctiond')));
    const length = Buffer.byteLength(path);
    if (length < 1 || length > LONGEST || path.includes('\0')) {
        throw invalid(`${JSON.stringify(path)} cannot be a socket: its path has to have 1 to ${LONGEST} bytes`);
    }
    return path;
}

function of(instance) {
    if (!ALLOWED.test(instance)) throw invalid(RULE);
    const path = env.XDG_RUNTIME_DIR && `${env.XDG_RUNTIME_DIR}/junctiond/${instance}.sock`;
    return path && existsSync(path) ? path : `/run/junctiond/${instance}.sock`;
}

function invalid(message) {
    return new JunctionError('invalidSocketPath', message);
}
