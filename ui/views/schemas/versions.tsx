/** The versions of an entity: their states, what differs between two of them, and a new one from an old one. */
import type { JSX } from 'preact'
import { noteFailure, useLoaded } from '../../app/loading.ts'
import { change, useChoice } from '../../app/place.ts'
import { client } from '../../app/session.ts'
import { showToast } from '../../app/toast.tsx'
import { type JsonObject, printJson } from '../../client/json.ts'
import type { VersionSummary } from '../../client/types.ts'
import { Failure, Progress } from '../../parts/notices.tsx'

interface VersionsProps {
  readonly entity: string
  readonly versions: readonly VersionSummary[]
  readonly onWritten: () => void
}

export function Versions({ entity, versions, onWritten }: VersionsProps): JSX.Element {
  const numbers = versions.map(({ version }) => version)
  const [one, setOne] = useChoice('from', numbers)
  const [other, setOther] = useChoice('to', numbers.toReversed())
  const run = async (work: Promise<unknown>, done: string): Promise<void> => {
    try {
      await work
      showToast({ kind: 'done', text: done })
      onWritten()
    } catch (failure) {
      noteFailure(failure)
      showToast({ kind: 'failed', text: (failure as Error).message })
    }
  }
  return (
    <div class="versions">
      <div class="scroll" tabIndex={0} role="region" aria-label="Versions">
        <table>
          <thead>
            <tr>
              <th scope="col">Version</th>
              <th scope="col">Status</th>
              <th scope="col">Changes</th>
              <th scope="col">Actions</th>
            </tr>
          </thead>
          <tbody>
            {versions.map(({ version, status, changelog, defaultVersion }) => (
              <tr key={version}>
                <th scope="row">
                  {version} {defaultVersion && <span class="badge update">default</span>}
                </th>
                <td>
                  <label>
                    <span class="sr-only">Status of {version}</span>
                    <select
                      value={status}
                      onChange={(event) => {
                        const next = event.currentTarget.value
                        void run(client.setStatus({ entity, version }, next, ''), `${version} is ${next}.`)
                      }}
                    >
                      <option>active</option>
                      <option>deprecated</option>
                      <option>disabled</option>
                    </select>
                  </label>
                </td>
                <td>{changelog}</td>
                <td>
                  <div class="row">
                    <button type="button" onClick={() => change({ tab: 'new', v: version })}>
                      New from this
                    </button>
                    {!defaultVersion && status !== 'disabled' && (
                      <button
                        type="button"
                        onClick={() =>
                          void run(client.setDefault(entity, version), `${version} is the default.`)
                        }
                      >
                        Make default
                      </button>
                    )}
                  </div>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {versions.length > 1 && (
        <section>
          <h2>What differs</h2>
          <div class="row">
            <VersionSelect label="From" versions={versions} value={one} onChange={setOne} />
            <VersionSelect label="To" versions={versions} value={other} onChange={setOther} />
          </div>
          <Differences entity={entity} one={one} other={other} />
        </section>
      )}
    </div>
  )
}

interface VersionSelectProps {
  readonly label: string
  readonly versions: readonly VersionSummary[]
  readonly value: string
  readonly onChange: (version: string) => void
}

function VersionSelect({ label, versions, value, onChange }: VersionSelectProps): JSX.Element {
  return (
    <label class="row">
      {label}
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {versions.map(({ version }) => (
          <option key={version}>{version}</option>
        ))}
      </select>
    </label>
  )
}

interface DifferencesProps {
  readonly entity: string
  readonly one: string
  readonly other: string
}

function Differences({ entity, one, other }: DifferencesProps): JSX.Element {
  const found = useLoaded(
    async () => (one === other ? [] : await client.difference(entity, one, other)),
    [entity, one, other],
  )
  if (found.failure !== undefined) return <Failure failure={found.failure} onRetry={found.reload} />
  if (!found.value) return <Progress label="Comparing" />
  if (found.value.length === 0) return <p class="hint">Nothing.</p>
  return (
    <ul class="differences">
      {found.value.map((each) => (
        <DifferenceItem key={Object.keys(each).join(' ')} difference={each} />
      ))}
    </ul>
  )
}

/** Keys begin with `-` for what one version has, and with `+` for what the other one has in its place. */
function DifferenceItem({ difference }: { readonly difference: JsonObject }): JSX.Element {
  return (
    <li>
      {Object.entries(difference).map(([key, value]) => {
        const text = `${key.slice(1)}: ${printJson(value)}`
        return key.startsWith('-') ? <del key={key}>{text}</del> : <ins key={key}>{text}</ins>
      })}
    </li>
  )
}
