/** Imports a file of CSV or NDJSON: how far it is, and which lines were rejected. */
import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { noteFailure } from '../../app/loading.ts'
import type { FileFormat, Reject } from '../../client/import-client.ts'
import { printJson } from '../../client/json.ts'
import type { Target } from '../../client/types.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { Failure } from '../../parts/notices.tsx'
import { download } from './export.ts'
import { type ImportState, NOTHING_SENT, formatOf, refuseArray, runImport } from './import-run.ts'

interface ImportDialogProps {
  readonly target: Target
  /** What was dropped; undefined where the user is to choose a file. */
  readonly file: File | undefined
  readonly onClose: () => void
  readonly onWritten: () => void
}

const SHOWN_REJECTS = 100

type Phase = 'choosing' | 'running' | 'done'

export function ImportDialog({ target, file: dropped, onClose, onWritten }: ImportDialogProps): JSX.Element {
  const [file, setFile] = useState(dropped)
  /** Undefined until the beginning of the file was read: a file must not be sent as what the one before it was. */
  const [format, setFormat] = useState<FileFormat>()
  const [isUpsert, setIsUpsert] = useState(false)
  const [stopsOnError, setStopsOnError] = useState(false)
  const [phase, setPhase] = useState<Phase>('choosing')
  const [state, setState] = useState(NOTHING_SENT)
  const [failure, setFailure] = useState<unknown>()
  const aborting = useRef<AbortController>(undefined)
  useEffect(() => () => aborting.current?.abort(), [])
  useEffect(() => {
    let isCurrent = true
    if (file) void formatOf(file).then((found) => isCurrent && setFormat((chosen) => chosen ?? found))
    return () => {
      isCurrent = false
    }
  }, [file])
  const choose = (next: File | undefined): void => {
    setFile(next)
    setFormat(undefined)
    // what became of the file before says nothing about this one
    setPhase('choosing')
    setState(NOTHING_SENT)
    setFailure(undefined)
  }
  const run = async (): Promise<void> => {
    if (!file || !format) return
    aborting.current = new AbortController()
    setPhase('running')
    setFailure(undefined)
    setState(NOTHING_SENT)
    try {
      await refuseArray(file)
      await runImport({ target, file, format, isUpsert, stopsOnError }, aborting.current.signal, setState)
    } catch (error) {
      if (!aborting.current.signal.aborted) {
        noteFailure(error)
        setFailure(error)
      }
    }
    setPhase('done')
    onWritten()
  }
  const isRunning = phase === 'running'
  return (
    <Dialog title={`Import into ${target.entity}`} onClose={onClose} isWide>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void run()
        }}
      >
        <label>
          File of CSV, or of NDJSON (one document in each line)
          <input
            type="file"
            accept=".csv,.tsv,.ndjson,.jsonl,.txt"
            disabled={isRunning}
            onChange={(event) => choose(event.currentTarget.files?.[0])}
          />
        </label>
        {file && (
          <p>
            <strong>{file.name}</strong> <span class="hint">{sizeText(file.size)}</span>
          </p>
        )}
        <div class="row">
          <label>
            Format
            <select
              value={format ?? 'csv'}
              disabled={isRunning}
              onChange={(event) => setFormat(event.currentTarget.value as FileFormat)}
            >
              <option value="csv">CSV, with the paths of fields as header</option>
              <option value="ndjson">NDJSON</option>
            </select>
          </label>
        </div>
        <fieldset disabled={isRunning}>
          <legend class="sr-only">Options</legend>
          <label class="check">
            <input type="checkbox" checked={isUpsert} onChange={() => setIsUpsert(!isUpsert)} />
            Replace documents that exist already
          </label>
          <label class="check">
            <input type="checkbox" checked={stopsOnError} onChange={() => setStopsOnError(!stopsOnError)} />
            Stop at the first line that is rejected
          </label>
        </fieldset>
        {phase !== 'choosing' && file && <Outcome state={state} size={file.size} isRunning={isRunning} />}
        {failure !== undefined && <Failure failure={failure} />}
        <footer>
          {state.rejects.length > 0 && !isRunning && (
            <button type="button" onClick={() => downloadRejects(file?.name ?? target.entity, state.rejects)}>
              Download what was rejected
            </button>
          )}
          <button type="button" onClick={() => (isRunning ? aborting.current?.abort() : onClose())}>
            {isRunning ? 'Stop' : 'Close'}
          </button>
          <button type="submit" class="primary" disabled={!file || !format || isRunning}>
            {isRunning ? 'Importing…' : 'Import'}
          </button>
        </footer>
      </form>
    </Dialog>
  )
}

interface OutcomeProps {
  readonly state: ImportState
  readonly size: number
  readonly isRunning: boolean
}

function Outcome({ state, size, isRunning }: OutcomeProps): JSX.Element {
  const { sentBytes, stored, rejected, rejects } = state
  return (
    <section class="import-outcome">
      {isRunning && (
        <progress aria-label="Progress of the import" max={Math.max(1, size)} value={sentBytes} />
      )}
      <p role="status">
        {stored.toLocaleString('en')} stored, {rejected.toLocaleString('en')} rejected
        {!isRunning && sentBytes < size && ', and the rest of the file was not sent'}.
      </p>
      {rejects.length > 0 && (
        <div class="scroll rejects" tabIndex={0} role="region" aria-label="Rejected lines">
          <table>
            <thead>
              <tr>
                <th scope="col">Line</th>
                <th scope="col">Why it was rejected</th>
              </tr>
            </thead>
            <tbody>
              {rejects.slice(0, SHOWN_REJECTS).map(({ line, problems }) => (
                <tr key={line}>
                  <th scope="row">{line}</th>
                  <td>
                    {problems.map(({ msg, errorCode }) => (
                      <div key={msg}>
                        {msg} <code>{errorCode}</code>
                      </div>
                    ))}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {rejected > SHOWN_REJECTS && <p class="hint">The first {SHOWN_REJECTS} are shown.</p>}
    </section>
  )
}

function downloadRejects(name: string, rejects: readonly Reject[]): void {
  const lines = rejects.map((each) => `${printJson({ line: each.line, errors: each.problems })}\n`)
  download(`${name}.rejects.ndjson`, new Blob(lines, { type: 'application/x-ndjson' }))
}

function sizeText(bytes: number): string {
  if (bytes < 2 ** 10) return `${bytes} bytes`
  if (bytes < 2 ** 20) return `${(bytes / 2 ** 10).toFixed(1)} KiB`
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`
}
