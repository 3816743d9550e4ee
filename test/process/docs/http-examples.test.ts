/**
 * The requests of the reference pages, sent in order to a server on SQLite. A block `http request` is followed by the
 * answer, `http response`: its status, the headers that matter, its body. `<ETag>` and `<next>` in a request stand for
 * what the latest answer that had one said. `json entity` and `json documents` are those of `reference.test.ts`.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { parseTrusted } from '../../../src/base/json/parse-trusted.ts'
import { type Answer, type TestServer, startTestServer } from '../../support/server.ts'
import { ANYONE, json, jsonObject } from '../../support/service.ts'
import { type Block, blocksOf, isAsShown, isTextAsShown } from './page.ts'

const PAGES = ['docs/reference/documents.md']

for (const page of PAGES) {
  test(`${page}: every request is answered as shown`, async (t) => {
    await using server = await startTestServer()
    const known = new Map<string, string>()
    let entity = ''
    let request: Block | undefined
    for (const block of blocksOf(page)) {
      const { tag, text, line } = block
      if (tag === 'json entity') entity = await define(server, jsonObject(text))
      else if (tag === 'json documents') {
        const stored = await server.ask('PUT', `/data/insert/${entity}`, { body: { data: json(text) } })
        assert.match(stored.text, /"status":"COMPLETE"/)
      } else if (tag === 'http request') {
        assert.equal(request, undefined, `line ${request?.line}: the request has no answer`)
        request = block
      } else if (tag === 'http response') {
        const sent: Block | undefined = request
        assert.ok(sent, `line ${line}: the answer has no request`)
        request = undefined
        const name = `line ${sent.line}, ${sent.text.split('\n')[0]}`
        await t.test(name, async () => {
          const answer = await send(server, sent.text, known)
          remember(answer, known)
          shows(text, answer)
        })
      }
    }
    assert.equal(request, undefined)
  })
}

async function define(server: TestServer, example: JsonObject): Promise<string> {
  const { name, fields, access = ANYONE, indexes = [] } = example
  await server.define(name as string, fields!, { info: { indexes }, schema: { access } })
  return name as string
}

interface Message {
  readonly first: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

function messageOf(text: string): Message {
  const [head = '', ...rest] = text.split('\n\n')
  const [first = '', ...lines] = head.split('\n')
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(': ')
    assert.ok(colon > 0, `no header: ${line}`)
    return [line.slice(0, colon), line.slice(colon + 2)]
  })
  return { first, headers: Object.fromEntries(headers), body: rest.join('\n\n') }
}

async function send(server: TestServer, text: string, known: ReadonlyMap<string, string>): Promise<Answer> {
  const filled = text.replaceAll(/<(ETag|next)>/g, (_, name: string) => {
    assert.ok(known.has(name), `no answer had ${name}`)
    return known.get(name)!
  })
  const { first, headers, body } = messageOf(filled)
  const [method, target, ...others] = first.split(' ')
  assert.ok(method && target && others.length === 0, first)
  const type = body !== '' && headers['Content-Type'] === undefined && { 'Content-Type': 'application/json' }
  return await server.ask(method, target, { headers: { ...headers, ...type }, ...(body !== '' && { body }) })
}

function shows(shown: string, answer: Answer): void {
  const { first, headers, body } = messageOf(shown)
  const answered = `${answer.status}: ${answer.text}`
  assert.equal(first.split(' ')[1], String(answer.status), answered)
  for (const [name, value] of Object.entries(headers))
    assert.ok(isTextAsShown(value, String(answer.headers[name.toLowerCase()])), `${name}, ${answered}`)
  if (body === '') assert.equal(answer.text, '')
  else assert.ok(isAsShown(json(body), parseTrusted(answer.text)), answered)
}

function remember({ headers, text }: Answer, known: Map<string, string>): void {
  if (headers.etag !== undefined) known.set('ETag', headers.etag)
  const { next } = (text.startsWith('{') ? parseTrusted(text) : {}) as Readonly<Record<string, Json>>
  if (typeof next === 'string') known.set('next', next)
}
