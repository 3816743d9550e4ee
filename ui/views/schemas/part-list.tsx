/** Indexes or hooks in a form: each with its errors and a button to remove it, and one to add another. */
import type { ComponentChildren, JSX } from 'preact'
import { useRef } from 'preact/hooks'
import type { Json } from '../../client/json.ts'
import { Icon } from '../../parts/icons.tsx'
import { type MetadataProblem, messageAt, messageInside } from '../../schema/metadata-problem.ts'

interface PartListProps {
  readonly parts: readonly Json[]
  /** The JSON pointer of the list in the metadata document. */
  readonly at: string
  readonly problem: MetadataProblem | undefined
  readonly addLabel: string
  readonly newPart: Json
  readonly labelOf: (part: Json) => string
  readonly isShown?: (part: Json) => boolean
  readonly onChange: (parts: readonly Json[]) => void
  readonly children: (part: Json, change: (next: Json) => void) => ComponentChildren
}

export function PartList(props: PartListProps): JSX.Element {
  const { parts, at, problem, addLabel, newPart, labelOf, isShown = () => true, onChange, children } = props
  const adding = useRef<HTMLButtonElement>(null)
  const own = messageAt(problem, at)
  return (
    <div class="schema-fields">
      {own !== undefined && (
        <p class="problem" role="alert">
          {own}
        </p>
      )}
      {parts.map((part, i) => {
        if (!isShown(part)) return undefined
        const message = messageInside(problem, `${at}/${i}`)
        const label = labelOf(part)
        return (
          // by place: a part keeps the focus while it is renamed
          <div
            key={i}
            class={message === undefined ? 'schema-field' : 'schema-field wrong'}
            role="group"
            aria-label={label}
          >
            {message !== undefined && (
              <p class="problem" role="alert">
                {message}
              </p>
            )}
            {children(part, (next) => onChange(parts.with(i, next)))}
            <button
              type="button"
              class="quiet remove-part"
              aria-label={`Remove: ${label}`}
              onClick={() => {
                onChange(parts.toSpliced(i, 1))
                // the button that had the focus goes with its part
                adding.current?.focus()
              }}
            >
              <Icon name="trash" />
              Remove
            </button>
          </div>
        )
      })}
      <button ref={adding} type="button" onClick={() => onChange([...parts, newPart])}>
        <Icon name="plus" />
        {addLabel}
      </button>
    </div>
  )
}
