/**
 * The load generator, a process of its own: raw sockets, one request under way on each, bytes made beforehand. It reads
 * no more of an answer than its status and its length, and looks closely at a few of them.
 */
import { type Socket, connect } from 'node:net'
import type { Sent } from './documents.ts'

export interface Job {
  readonly id: number
  readonly port: number
  readonly connections: number
  readonly warmupSeconds: number
  readonly seconds: number
  readonly requests: readonly Sent[]
}

export interface Result {
  readonly id: number
  /** All answers, also those while the servers warmed up. */
  readonly answers: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly errors: number
  /** What the first error was. */
  readonly problem?: string
  /** Share of one core that this process took. */
  readonly cpu: number
}

/** Every so many answers of a connection one is read as a whole. */
const SAMPLE = 101
const MAX_LATENCIES = 4_000_000

interface Prepared {
  readonly bytes: Buffer
  readonly expect: string
}

class Run {
  readonly requests: readonly Prepared[]
  readonly #latencies: Float64Array
  #count = 0
  #answers = 0
  #start = Infinity
  #end = Infinity
  #cpu = process.cpuUsage()
  errors = 0
  problem: string | undefined = undefined
  isOver = false

  constructor(job: Job) {
    this.requests = job.requests.map(({ text, expect }) => ({ bytes: Buffer.from(text), expect }))
    this.#latencies = new Float64Array(Math.min(MAX_LATENCIES, Math.ceil(job.seconds * 200_000)))
  }

  begin(): void {
    this.#cpu = process.cpuUsage()
    this.#start = performance.now()
  }

  finish(): void {
    this.#end = performance.now()
    this.isOver = true
    this.#cpu = process.cpuUsage(this.#cpu)
  }

  answered(sentAt: number): void {
    this.#answers++
    const now = performance.now()
    if (now < this.#start || now > this.#end || this.#count === this.#latencies.length) return
    this.#latencies[this.#count++] = now - sentAt
  }

  failed(problem: string): void {
    this.errors++
    this.problem ??= problem
  }

  result(id: number): Result {
    const ms = this.#end - this.#start
    const sorted = this.#latencies.subarray(0, this.#count).sort()
    const at = (share: number): number => sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN
    return {
      id,
      answers: this.#answers,
      perSecond: this.#count / (ms / 1_000),
      p50Ms: at(0.5),
      p99Ms: at(0.99),
      errors: this.errors,
      ...(this.problem !== undefined && { problem: this.problem }),
      cpu: (this.#cpu.user + this.#cpu.system) / 1_000 / ms,
    }
  }
}

async function perform(job: Job): Promise<Result> {
  const run = new Run(job)
  const ended = Array.from({ length: job.connections }, (_, i) => drive(run, job, i))
  await sleep(job.warmupSeconds)
  run.begin()
  await sleep(job.seconds)
  run.finish()
  await Promise.all(ended)
  return run.result(job.id)
}

/** Sends one request after the other until the run is over. */
function drive(run: Run, { port, connections, requests }: Job, first: number): Promise<void> {
  return new Promise((resolve) => {
    let next = Math.floor((first * requests.length) / connections)
    let current = run.requests[next]!
    let sentAt = 0
    let sent = 0
    const send = (): void => {
      current = run.requests[next]!
      next = (next + 1) % run.requests.length
      sent++
      sentAt = performance.now()
      socket.write(current.bytes)
    }
    const reader = new AnswerReader({
      isSample: () => sent % SAMPLE === 1,
      onAnswer(status, body) {
        run.answered(sentAt)
        const problem = problemOf(status, body, current)
        if (problem !== undefined) run.failed(problem)
        if (run.isOver) socket.end()
        else send()
      },
      onNonsense(problem) {
        run.failed(problem)
        socket.destroy()
      },
    })
    const buffer = Buffer.allocUnsafe(256 * 1_024)
    const callback = (length: number, bytes: Uint8Array): boolean => {
      reader.take(Buffer.from(bytes.buffer, bytes.byteOffset, length))
      return true
    }
    const socket: Socket = connect({ port, host: '127.0.0.1', noDelay: true, onread: { buffer, callback } })
    socket.on('connect', send)
    socket.on('error', ({ message }) => run.failed(message))
    socket.on('close', () => {
      if (!run.isOver) run.failed('the connection was closed')
      resolve()
    })
  })
}

function problemOf(status: number, body: string | undefined, { expect }: Prepared): string | undefined {
  if (status !== 200) return `status ${status}`
  if (body === undefined) return undefined
  if (!body.includes(expect)) return `no ${expect} in ${body.slice(0, 200)}`
  try {
    JSON.parse(body)
    return undefined
  } catch {
    return `no JSON: ${body.slice(0, 200)}`
  }
}

interface Listener {
  /** Whether the body of the answer that begins is wanted. */
  readonly isSample: () => boolean
  readonly onAnswer: (status: number, body: string | undefined) => void
  readonly onNonsense: (problem: string) => void
}

const HEAD_END = Buffer.from('\r\n\r\n')

class AnswerReader {
  readonly #listener: Listener
  /** The bytes of a head that came in pieces. */
  #head: Buffer | undefined = undefined
  #remaining = -1
  #status = 0
  #pieces: Buffer[] | undefined = undefined

  constructor(listener: Listener) {
    this.#listener = listener
  }

  take(chunk: Buffer): void {
    const body = this.#remaining === -1 ? this.#readHead(chunk) : chunk
    if (body === undefined) return
    this.#remaining -= body.length
    this.#pieces?.push(Buffer.from(body))
    if (this.#remaining > 0) return
    if (this.#remaining < 0) return this.#listener.onNonsense('more bytes than announced')
    const text = this.#pieces && Buffer.concat(this.#pieces).toString()
    this.#remaining = -1
    this.#pieces = undefined
    this.#listener.onAnswer(this.#status, text)
  }

  #readHead(chunk: Buffer): Buffer | undefined {
    const bytes = this.#head ? Buffer.concat([this.#head, chunk]) : chunk
    const end = bytes.indexOf(HEAD_END)
    if (end === -1) {
      this.#head = Buffer.from(bytes)
      return undefined
    }
    this.#head = undefined
    const head = bytes.toString('latin1', 0, end)
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)
    if (!length) {
      this.#listener.onNonsense(`no length in ${head}`)
      return undefined
    }
    this.#status = Number(head.slice(9, 12))
    this.#remaining = Number(length[1])
    if (this.#listener.isSample()) this.#pieces = []
    return bytes.subarray(end + HEAD_END.length)
  }
}

function sleep(seconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, seconds * 1_000)
  })
}

process.on('message', (job: Job) => {
  void perform(job).then((result) => process.send!(result))
})
process.on('disconnect', () => process.exit())
