/**
 * Many followers of events, a process of their own: raw sockets that count what arrives, so that they cost less than
 * those who send.
 */
import { connect } from 'node:net'

export interface Following {
  readonly port: number
  readonly followers: number
  readonly path: string
}

/** What arrived so far, of all of them. */
export interface Arrived {
  readonly connected: number
  readonly events: number
  /** Processor time that all of them took. */
  readonly cpuMs: number
  /** What the first problem was. */
  readonly problem?: string
}

/** Where the head of an answer ends; all that follows are events. */
const HEAD_END = Buffer.from('\r\n\r\n')
/** At the beginning of a line, where JSON cannot be mistaken for it: texts in it hold no line ends. */
const EVENT = Buffer.from('\ndata: {')
/** At most so many connections are about to be made at once. */
const AT_ONCE = 50

const arrived = { connected: 0, events: 0 }
let problem: string | undefined

async function followAll({ port, followers, path }: Following): Promise<void> {
  for (let begun = 0; begun < followers; begun += AT_ONCE) {
    const length = Math.min(AT_ONCE, followers - begun)
    await Promise.all(Array.from({ length }, () => follow(port, path)))
  }
}

/** Settles when the server has answered. */
function follow(port: number, path: string): Promise<void> {
  return new Promise((resolve) => {
    const buffer = Buffer.allocUnsafe(64 * 1_024)
    let head: Buffer | undefined = Buffer.alloc(0)
    let tail = Buffer.alloc(0)
    const take = (bytes: Buffer): void => {
      if (!head) {
        tail = count(bytes, tail)
        return
      }
      head = Buffer.concat([head, bytes])
      const end = head.indexOf(HEAD_END)
      if (end === -1) return
      begin(head.toString('latin1', 0, end))
      tail = count(head.subarray(end + HEAD_END.length), tail)
      head = undefined
      resolve()
    }
    const callback = (length: number, bytes: Uint8Array): boolean => {
      take(Buffer.from(bytes.buffer, bytes.byteOffset, length))
      return true
    }
    const socket = connect({ port, host: '127.0.0.1', onread: { buffer, callback } })
    socket.on('connect', () => socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`))
    socket.on('error', ({ message }) => void (problem ??= message))
    socket.on('close', () => {
      problem ??= 'the server closed a stream'
      resolve()
    })
  })
}

function begin(head: string): void {
  if (head.startsWith('HTTP/1.1 200 ')) arrived.connected++
  else problem ??= head
}

/** Counts events, also one whose beginning came in two pieces; what may be such a beginning is kept. */
function count(bytes: Buffer, tail: Buffer): Buffer<ArrayBuffer> {
  const text = Buffer.concat([tail, bytes])
  let at = text.indexOf(EVENT)
  let counted = 0
  for (; at !== -1; at = text.indexOf(EVENT, counted)) {
    arrived.events++
    counted = at + EVENT.length
  }
  return Buffer.from(text.subarray(Math.max(counted, text.length - EVENT.length + 1)))
}

function report(): void {
  const { user, system } = process.cpuUsage()
  process.send!({ ...arrived, cpuMs: (user + system) / 1_000, ...(problem !== undefined && { problem }) })
}

process.on('message', (message: Following | 'report') => {
  if (message === 'report') report()
  else void followAll(message).then(report)
})
process.on('disconnect', () => process.exit())
