import { existsSync } from 'node:fs';
import { env } from 'node:process';
import { JunctionError } from './errors.js';

// The size of sun_path in sockaddr_un, without the terminating zero.
const LONGEST = 107;

/** Returns the explicit path, or else the one from the environment, or else that of the system service. */
export function socketPath(explicit) {
    const path = explicit ?? (env.JUNCTIOND_SOCKET || ofTheSession() || '/run/junctiond/junctiond.sock');
    const length = Buffer.byteLength(path);
    if (length < 1 || length > LONGEST || path.includes('\0')) {
        const shown = JSON.stringify(path);
        throw new JunctionError('invalidSocketPath', `${shown} cannot be a socket: its path has to have 1 to ${LONGEST} bytes`);
    }
    return path;
}

function ofTheSession() {
    const path = env.XDG_RUNTIME_DIR && `${env.XDG_RUNTIME_DIR}/junctiond/junctiond.sock`;
    return path && existsSync(path) ? path : null;
}
