/** The table as it was: a slider from the start of the history to now, and a date to type. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { useLoaded } from '../../app/loading.ts'
import { change } from '../../app/place.ts'
import { client } from '../../app/session.ts'
import { RequestFailure } from '../../client/failure.ts'
import type { Find, Metadata } from '../../client/types.ts'
import { Icon } from '../../parts/icons.tsx'
import { Menu } from '../../parts/menu.tsx'
import { isRfc3339 } from '../../schema/dates.ts'

interface ViewAtProps {
  readonly metadata: Metadata
  readonly find: Find
  readonly at: string | undefined
}

export function ViewAt({ metadata, find, at }: ViewAtProps): JSX.Element | null {
  if (metadata.entityInfo.history !== true) return null
  const button = (
    <>
      <Icon name="clock" />
      <span class="label">{at === undefined ? 'View at' : shortDate(at)}</span>
    </>
  )
  return (
    <Menu title="View at another time" isChosen={at !== undefined} button={button}>
      {(close) => <Slider find={find} at={at} onGone={close} />}
    </Menu>
  )
}

interface SliderProps extends Omit<ViewAtProps, 'metadata'> {
  readonly onGone: () => void
}

function Slider({ find: { entity, version }, at, onGone }: SliderProps): JSX.Element {
  const start = useLoaded(() => historyStart(entity, version), [entity, version])
  const [draft, setDraft] = useState<number>()
  const [text, setText] = useState(at ?? '')
  const now = Date.now()
  const from = start.value ?? now
  const position = draft ?? (at !== undefined && isRfc3339(at) ? Date.parse(at) : now)
  const choose = (next: string | undefined): void => {
    setDraft(undefined)
    setText(next ?? '')
    change({ at: next })
  }
  return (
    <div class="popover view-at">
      <label>
        Time
        <input
          type="range"
          min={from}
          max={now}
          step={1}
          value={position}
          aria-valuetext={shortDate(new Date(position).toISOString())}
          onInput={(event) => setDraft(Number(event.currentTarget.value))}
          onChange={(event) => {
            const time = Number(event.currentTarget.value)
            choose(time >= now ? undefined : new Date(time).toISOString())
          }}
        />
      </label>
      <p class="ends">
        <span>{start.value === undefined ? '' : shortDate(new Date(from).toISOString())}</span>
        <span>now</span>
      </p>
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault()
          if (!isRfc3339(text)) return
          choose(text)
          onGone()
        }}
      >
        <label>
          Date (RFC 3339)
          <input
            type="text"
            value={text}
            placeholder="2026-01-31T12:00:00Z"
            aria-invalid={text !== '' && !isRfc3339(text)}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </label>
        <button type="submit">Go</button>
        <button type="button" disabled={at === undefined} onClick={() => choose(undefined)}>
          Now
        </button>
      </form>
    </div>
  )
}

/** The service refuses a time before the history began, and its message says when that was. */
async function historyStart(entity: string, version: string | undefined): Promise<number | undefined> {
  try {
    await client.find({ entity, version, asOf: '1970-01-02T00:00:00Z', range: [0, 0], isCounted: false })
    return 0
  } catch (failure) {
    const date = failure instanceof RequestFailure ? /\d{4}-\d\d-\d\dT[\d:.]+Z/.exec(failure.message) : null
    return date ? Math.ceil(Date.parse(date[0]) / 1_000) * 1_000 : undefined
  }
}

function shortDate(text: string): string {
  return text.replace('T', ' ').replace(/\.\d+Z$/, 'Z')
}
