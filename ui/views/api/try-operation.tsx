/** One operation: its parameters and body to fill in, the same as curl, and the answer of the service. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { useLoaded } from '../../app/loading.ts'
import { href } from '../../app/place.ts'
import { callerHeaders, client, encodedCallerHeaders } from '../../app/session.ts'
import { parseJson, printJson } from '../../client/json.ts'
import { CopyButton } from '../../parts/copy-button.tsx'
import { LazyJsonEditor } from '../../parts/lazy-json-editor.ts'
import { JSON_TYPE, type Operation, type Parameter, addressOf } from './operations.ts'
import { useBody } from './use-body.ts'

interface Answer {
  readonly status: number
  readonly ms: number
  readonly text: string
}

/** Longer answers are cut: they are for programs. */
const MAX_SHOWN = 200_000

export function TryOperation({ operation }: { readonly operation: Operation }): JSX.Element {
  const { method, path, summary, description, parameters, bodyType } = operation
  const [values, setValues] = useState<Readonly<Record<string, string>>>({})
  const [answer, setAnswer] = useState<Answer>()
  const entities = useLoaded(() => client.entities(), [])
  const hasBody = operation.body !== undefined
  const entity = hasBody ? entities.value?.find((each) => each === values['entity']) : undefined
  const { text: body, onChange: setBody, isLoading } = useBody(operation, entity, values['version'] ?? '')
  const address = addressOf(operation, values)
  const send = async (): Promise<void> => {
    if (address === undefined) return
    const begun = performance.now()
    const headers = {
      ...encodedCallerHeaders(),
      ...((hasBody || method === 'POST') && { 'Content-Type': bodyType }),
    }
    try {
      const response = await fetch(address, { method, headers, ...(hasBody && { body }) })
      const text = address.startsWith('/events/stream') ? await firstChunk(response) : await response.text()
      setAnswer({ status: response.status, ms: performance.now() - begun, text: pretty(text) })
    } catch (error) {
      setAnswer({ status: 0, ms: performance.now() - begun, text: (error as Error).message })
    }
  }
  return (
    <section class="page">
      <header class="toolbar">
        <a class="back" href={href(['api'])} aria-label="All operations">
          ‹
        </a>
        <h1>{summary}</h1>
      </header>
      <p>
        <span class={`badge method-${method.toLowerCase()}`}>{method}</span> <code>{path}</code>
      </p>
      {description !== '' && <p class="hint">{withCode(description)}</p>}
      <form
        class="try"
        onSubmit={(event) => {
          event.preventDefault()
          void send()
        }}
      >
        <div class="row">
          {parameters.map((parameter) => (
            <ParameterField
              key={parameter.name}
              parameter={parameter}
              value={values[parameter.name] ?? ''}
              entities={entities.value ?? []}
              onChange={(value) => setValues({ ...values, [parameter.name]: value })}
            />
          ))}
        </div>
        {hasBody && (
          <div class="body-editor">
            <LazyJsonEditor label="Body" text={body} onChange={setBody} />
          </div>
        )}
        <div class="row">
          <button type="submit" class="primary" disabled={address === undefined || isLoading}>
            Send
          </button>
          {method !== 'GET' && <span class="hint">It is really sent.</span>}
        </div>
      </form>
      <div class="code-block">
        <CopyButton text={curlFor(operation, address ?? path, body)} />
        <pre tabIndex={0} aria-label="As curl">
          {curlFor(operation, address ?? path, body)}
        </pre>
      </div>
      {answer && (
        <section aria-live="polite">
          <h2>
            Answer{' '}
            <span class={`badge ${answer.status < 400 && answer.status > 0 ? 'allow' : 'deny'}`}>
              {answer.status}
            </span>{' '}
            <small>{answer.ms.toFixed(0)} ms</small>
          </h2>
          <div class="code-block">
            <CopyButton text={answer.text} />
            <pre tabIndex={0} aria-label="Answer">
              {answer.text}
            </pre>
          </div>
        </section>
      )}
    </section>
  )
}

interface ParameterFieldProps {
  readonly parameter: Parameter
  readonly value: string
  readonly entities: readonly string[]
  readonly onChange: (value: string) => void
}

function ParameterField({ parameter, value, entities, onChange }: ParameterFieldProps): JSX.Element {
  const { name, place, description, example } = parameter
  const isEntity = name === 'entity' && entities.length > 0
  return (
    <label title={description}>
      {name}
      {place === 'path' ? ' *' : ''}
      {isEntity ? (
        <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
          <option value="">choose</option>
          {entities.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      ) : (
        <input
          type="text"
          placeholder={example}
          value={value}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
      )}
    </label>
  )
}

function curlFor({ method, body: example, bodyType }: Operation, address: string, body: string): string {
  const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`
  const headers = Object.entries(callerHeaders()).map(([name, value]) =>
    name === 'Authorization' ? '-H "Authorization: Bearer $TOKEN"' : `-H ${quoted(`${name}: ${value}`)}`,
  )
  const sent =
    bodyType === JSON_TYPE
      ? `--json ${quoted(body)}`
      : `-H ${quoted(`Content-Type: ${bodyType}`)} --data-binary ${quoted(body)}`
  return [
    `curl -sS -X ${method} ${quoted(location.origin + address)}`,
    ...headers,
    ...(example === undefined ? [] : [sent]),
  ].join(' \\\n  ')
}

/** A stream has no end; its beginning shows that it works. */
async function firstChunk({ body }: Response): Promise<string> {
  const reader = body?.getReader()
  const chunk = await reader?.read()
  await reader?.cancel()
  return new TextDecoder().decode(chunk?.value)
}

function pretty(text: string): string {
  const shown = text.slice(0, MAX_SHOWN)
  try {
    return printJson(parseJson(shown), 2)
  } catch {
    return shown
  }
}

/** Descriptions are Markdown, of which only code is used. */
function withCode(text: string): readonly (JSX.Element | string)[] {
  return text.split('`').map((part, i) => (i % 2 === 0 ? part : <code key={i}>{part}</code>))
}
