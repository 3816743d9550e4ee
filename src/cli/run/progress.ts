/** Shows the progress of a long command: a bar on a terminal, otherwise a line from time to time. */

export interface Progress {
  readonly phase: string
  readonly done: number
  /** Undefined if it is not known. */
  readonly total: number | undefined
  /** What is counted; documents if absent. */
  readonly unit?: string
  /** Appended to the line. */
  readonly note?: string
}

interface ProgressView {
  show(progress: Progress): void
  /** Restores the terminal. */
  end(): void
}

interface Terminal {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

const REDRAW_MS = 100
const LINE_MS = 5_000

/** Uses the clock instead of a timer, because a store may block the event loop and timers would be late. */
export function createProgress(output: Terminal, now: () => number = () => performance.now()): ProgressView {
  const isBar = output.isTTY === true
  let phase: Progress['phase'] | undefined
  let began = 0
  let shown = now()
  let isDrawn = false
  return {
    show(progress) {
      const isNew = progress.phase !== phase
      if (isNew) began = now()
      phase = progress.phase
      const isDue = now() - shown >= (isBar ? REDRAW_MS : LINE_MS)
      if (!isDue && !(isBar && isNew)) return
      shown = now()
      const text = described(progress, (shown - began) / 1000)
      if (isBar) output.write(`\r\u001B[K${bar(progress)} ${text}`.slice(0, (output.columns ?? 80) + 3))
      else output.write(`smalt: ${text}\n`)
      isDrawn = isBar
    },
    end() {
      if (isDrawn) output.write('\r\u001B[K')
      isDrawn = false
    },
  }
}

const WIDTH = 24

function bar({ done, total }: Progress): string {
  if (total === undefined) return `[${'-'.repeat(WIDTH)}]`
  const filled = total === 0 ? WIDTH : Math.min(WIDTH, Math.floor((done / total) * WIDTH))
  return `[${'#'.repeat(filled)}${'-'.repeat(WIDTH - filled)}]`
}

function described({ note, ...progress }: Progress, seconds: number): string {
  const text = rated(progress, seconds)
  return note === undefined ? text : `${text}; ${note}`
}

function rated({ phase, done, total, unit = 'documents' }: Progress, seconds: number): string {
  // in the first second it says nothing about the rest
  const rate = seconds < 1 ? 0 : done / seconds
  if (total === undefined) {
    const counted = `${phase} ${done.toLocaleString('en')} ${unit}`
    return rate < 1 ? counted : `${counted}, ${Math.round(rate).toLocaleString('en')}/s`
  }
  const share = total === 0 ? 100 : Math.min(100, Math.floor((done / total) * 100))
  const counts = `${phase} ${share}%, ${done.toLocaleString('en')} of ${total.toLocaleString('en')} ${unit}`
  if (rate < 1) return counts
  const left = Math.ceil(Math.max(0, total - done) / rate)
  return `${counts}, ${Math.round(rate).toLocaleString('en')}/s, ${left} s left`
}
