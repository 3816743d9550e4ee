/** Roles against operations and fields: what each role may do. */
import type { JSX } from 'preact'
import { useChoice } from '../../app/place.ts'
import { useLoaded } from '../../app/loading.ts'
import { client } from '../../app/session.ts'
import type { Grants, Operation, Target } from '../../client/types.ts'
import { Failure, Progress } from '../../parts/notices.tsx'

const OPERATIONS: readonly Operation[] = ['find', 'insert', 'update', 'delete']

export function AccessMatrix({ entity, version }: Target): JSX.Element {
  const report = useLoaded(() => client.accessOf({ entity, version }), [entity, version])
  const [operation, setOperation] = useChoice('operation', OPERATIONS)
  if (report.failure !== undefined) return <Failure failure={report.failure} onRetry={report.reload} />
  const { value } = report
  if (!value) return <Progress label="Loading access" />
  return (
    <div class="matrix">
      <div class="row" role="group" aria-label="Operation">
        {OPERATIONS.map((each) => (
          <button
            key={each}
            type="button"
            class={each === operation ? 'chosen' : ''}
            aria-pressed={each === operation}
            onClick={() => setOperation(each)}
          >
            {each}
          </button>
        ))}
      </div>
      <div class="scroll" tabIndex={0} role="region" aria-label={`Who may ${operation}`}>
        <table>
          <thead>
            <tr>
              <th scope="col">Field</th>
              {value.roles.map((role) => (
                <th key={role} scope="col">
                  {role}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            <MatrixRow name="the entity" roles={value.roles} grants={value.access[operation]} />
            {value.fields.map((field) => {
              const grants = field[operation]
              return (
                grants && <MatrixRow key={field.path} name={field.path} roles={value.roles} grants={grants} />
              )
            })}
          </tbody>
        </table>
      </div>
      <p class="hint">“where”: only documents that a row rule admits.</p>
    </div>
  )
}

interface MatrixRowProps {
  readonly name: string
  readonly roles: readonly string[]
  readonly grants: Grants
}

function MatrixRow({ name, roles, grants }: MatrixRowProps): JSX.Element {
  return (
    <tr>
      <th scope="row">{name}</th>
      {roles.map((role) => (
        <td key={role}>
          <span class={`badge ${grants[role] ?? 'no'}`}>{grants[role] ?? 'no'}</span>
        </td>
      ))}
    </tr>
  )
}
