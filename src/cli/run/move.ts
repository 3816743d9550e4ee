/** `smalt move`: copies everything from one store into another, with progress and a summary. */
import { LOCATION_FORMS, parseLocation } from '../../base/location.ts'
import { type Moved, move } from '../../service/move/move.ts'
import { MoveError, type MoveReason } from '../../service/move/move-error.ts'
import { EXIT, Exit } from '../exit.ts'
import { usageError } from '../usage-error.ts'
import { createProgress } from './progress.ts'

interface MoveFlags {
  readonly from?: string
  readonly to?: string
  readonly check?: boolean
  readonly restart?: boolean
  readonly json?: boolean
}

export async function runMove(flags: MoveFlags): Promise<void> {
  const from = locationFrom('--from', flags.from)
  const to = locationFrom('--to', flags.to)
  const { check = false, restart = false, json = false } = flags
  const progress = createProgress(process.stderr)
  const began = performance.now()
  try {
    const moved = await move({
      from,
      to,
      isRehearsal: check,
      discardsIncomplete: restart,
      onProgress: (each) => progress.show(each),
      signal: abortedBySignals('interrupted; nothing was moved'),
    })
    progress.end()
    const seconds = Math.round(performance.now() - began) / 1000
    process.stdout.write(
      json
        ? `${JSON.stringify({ ...moved, isMoved: !check, seconds })}\n`
        : shownLines(moved, check, seconds),
    )
  } catch (error) {
    progress.end()
    if (!(error instanceof MoveError)) throw error
    throw new Exit(MOVE_EXITS[error.reason], error.message)
  }
}

export const MOVE_EXITS: Readonly<Record<MoveReason, number>> = {
  location: EXIT.config,
  unreachable: EXIT.unreachable,
  conflict: EXIT.conflict,
  interrupted: EXIT.interrupted,
  failed: EXIT.failed,
}

/** The message does not repeat the given value, which may contain a password. */
function locationFrom(flag: string, text: string | undefined): string {
  if (text === undefined) {
    throw usageError(`move needs ${flag}, which is ${LOCATION_FORMS}`)
  }
  if (parseLocation(text)) return text
  throw new Exit(EXIT.config, `${flag} must be ${LOCATION_FORMS}`)
}

/** The first signal rolls the copy back; the second exits at once and leaves the target unfinished. */
export function abortedBySignals(message: string): AbortSignal {
  const controller = new AbortController()
  const onSignal = (): void => {
    if (controller.signal.aborted) process.exit(EXIT.interrupted)
    controller.abort(new MoveError('interrupted', message))
  }
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal)
  return controller.signal
}

function shownLines(
  { from, to, documents, collections, entities, versions, sequences }: Moved,
  isRehearsal: boolean,
  seconds: number,
): string {
  const rows = collections.map(({ name, entity, documents: count, checksum }) => {
    const of = name === entity ? name : `${name} of ${entity}`
    return `  ${count.toLocaleString('en')} in ${of}${checksum === undefined ? '' : ` (checksum ${checksum})`}\n`
  })
  const what = [
    counted(documents, 'document', 'documents'),
    counted(entities, 'entity', 'entities'),
    counted(versions, 'version', 'versions'),
    counted(sequences, 'sequence', 'sequences'),
  ].join(', ')
  const verb = isRehearsal ? 'nothing is in the way of moving' : 'moved and checked'
  return `${rows.join('')}${verb} ${what} from ${from} to ${to} in ${seconds} s\n`
}

function counted(count: number, one: string, many: string): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`
}
