import net from 'node:net';
import { JunctionError, notTaken } from './errors.js';
import { errorLine, LineSplitter, messages, requestLine, resultLine } from './messages.js';

// The delay in milliseconds when the daemon's backlog is full. The kernel does not report when it has space again.
const NO_ROOM = 20;

/**
 * A socket that stays readable after a failed write. net.Socket would destroy itself, and answers that have arrived would be
 * lost.
 */
class Wire extends net.Socket {
    #written;

    constructor(written) {
        super({ allowHalfOpen: true });
        this.#written = written;
    }

    _write(data, encoding, done) {
        super._write(data, encoding, (error) => {
            done();
            this.#written(error ?? null);
        });
    }
}

/**
 * One connection to the daemon, and the messages on it.
 *
 * The owner has three methods: `message(message)`; `notTaken(id, error)` for a call that the daemon did not receive completely;
 * `ended(error)`, once.
 */
export class Channel {
    #path;
    #owner;
    #socket;
    #retry;
    #lines = new LineSplitter();
    #lastId = 0;
    // Lines that are not sent yet, in order, each with the id of its call. One is written at a time, so that the library
    // knows which of them the kernel has taken.
    #outgoing = [];
    #isNeeded = true;
    #isOpen = false;
    #isWriting = false;
    #isFlushing = false;
    #isRefused = false;
    #isClosed = false;

    constructor(path, owner) {
        this.#path = path;
        this.#owner = owner;
        this.#connect();
    }

    /** Whether calls can be made: false after a failed write, although earlier calls may still be answered. */
    get isUsable() {
        return !this.#isClosed && !this.#isRefused;
    }

    /** Says whether the connection keeps the process alive. */
    keepsAlive(keeps) {
        this.#isNeeded = keeps;
        // Before the connection is open, each `ref` of a net.Socket would add a listener.
        if (!this.#isOpen || this.#isClosed) return;
        if (keeps) this.#socket.ref();
        else this.#socket.unref();
    }

    #connect() {
        const socket = new Wire((error) => this.#written(error));
        this.#socket = socket;
        socket.on('connect', () => {
            this.#isOpen = true;
            this.keepsAlive(this.#isNeeded);
            this.#flush();
        });
        socket.on('data', (data) => this.#receive(data));
        socket.on('end', () => this.close(lost()));
        socket.on('error', (error) => {
            if (this.#isOpen || error.code === 'ECONNRESET' || error.code === 'EPIPE') this.close(lost());
            else if (error.code === 'EAGAIN') this.#retry = setTimeout(() => this.#connect(), NO_ROOM);
            else this.close(unreachable(this.#path, error));
        });
        socket.connect({ path: this.#path });
    }

    /** Closes the connection. The owner receives the error. */
    close(error) {
        if (this.#isClosed) return;
        this.#isClosed = true;
        clearTimeout(this.#retry);
        this.#socket.destroy();
        if (error.kind === 'connectionLost') this.#failOutgoing();
        this.#owner.ended(error);
    }

    // Sending.

    /** Queues a call and returns its id. */
    ask(method, params) {
        const line = requestLine(this.#lastId + 1, method, params);
        this.#lastId += 1;
        this.#send(line, this.#lastId);
        return this.#lastId;
    }

    answer(id, result) {
        this.#send(resultLine(id, result));
    }

    refuse(id, code, message) {
        this.#send(errorLine(id, code, message));
    }

    #send(line, id = null) {
        if (!this.isUsable) return;
        this.#outgoing.push({ line, id });
        this.#flush();
    }

    // A loop and not a recursion, because the kernel mostly takes a line at once.
    #flush() {
        if (this.#isFlushing || !this.#isOpen) return;
        this.#isFlushing = true;
        while (this.isUsable && !this.#isWriting && this.#outgoing.length > 0) {
            this.#isWriting = true;
            this.#socket.write(this.#outgoing[0].line);
        }
        this.#isFlushing = false;
    }

    #written(error) {
        this.#isWriting = false;
        if (this.#isClosed) return;
        if (error === null) {
            this.#outgoing.shift();
            this.#flush();
        } else {
            this.#isRefused = true;
            // Not from within `ask`, whose caller does not know the id yet.
            setImmediate(() => this.#failOutgoing());
        }
    }

    #failOutgoing() {
        const left = this.#outgoing;
        this.#outgoing = [];
        for (const { id } of left) if (id !== null) this.#owner.notTaken(id, notTaken());
    }

    // Receiving.

    #receive(data) {
        try {
            for (const line of this.#lines.lines(data)) {
                for (const message of messages(line)) {
                    if (this.#isClosed) return;
                    if (message.kind === 'complaint') throw message.error;
                    this.#owner.message(message);
                }
            }
        } catch (error) {
            if (!(error instanceof JunctionError)) throw error;
            this.close(error);
        }
    }
}

function lost() {
    return new JunctionError('connectionLost', 'the daemon closed the connection before it answered');
}

function unreachable(path, error) {
    switch (error.code) {
        case 'EACCES':
        case 'EPERM':
            return new JunctionError('permissionDenied', `this user may not open the socket ${path}`);
        case 'ENOENT':
            return new JunctionError('daemonUnreachable', `there is no socket ${path}`);
        case 'ECONNREFUSED':
            return new JunctionError('daemonUnreachable', `no daemon listens on the socket ${path}`);
        case 'EMFILE':
        case 'ENFILE':
        case 'ENOMEM':
        case 'ENOBUFS':
            return new JunctionError('localFailure', `this program cannot have a socket: ${error.code}`);
        default:
            return new JunctionError('daemonUnreachable', `cannot connect to ${path}: ${error.code}`);
    }
}
