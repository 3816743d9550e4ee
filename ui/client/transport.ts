/** Sends requests and reads answers; the one place of the client that uses `fetch`. */
import { type ServiceProblem, RequestFailure, problemsIn } from './failure.ts'
import { type Json, parseJson, printJson } from './json.ts'

export interface TransportOptions {
  /** Where the service is, without a trailing slash; empty for the origin of the page. */
  readonly baseUrl: string
  /** Headers that identify the caller, asked for with each request. */
  readonly headers: () => Readonly<Record<string, string>>
}

export interface Sent {
  readonly body?: unknown
  /** Bytes in place of a body, sent as they are. */
  readonly content?: { readonly type: string; readonly bytes: Uint8Array<ArrayBuffer> } | undefined
  readonly signal?: AbortSignal | undefined
  readonly query?: Readonly<Record<string, string | undefined>>
}

export interface Transport {
  readonly send: (method: string, path: string, sent?: Sent) => Promise<Json>
  readonly text: (method: string, path: string, sent?: Sent) => Promise<string>
  /** The body as it arrives. */
  readonly open: (path: string, sent?: Sent) => Promise<ReadableStream<Uint8Array>>
}

export function createTransport({ baseUrl, headers }: TransportOptions): Transport {
  const request = async (method: string, path: string, sent: Sent = {}): Promise<Response> => {
    const hasBody = sent.body !== undefined
    const { content } = sent
    // of pages, the service takes no POST without a type, even where there is no body
    const type = content?.type ?? (hasBody || method === 'POST' ? 'application/json' : undefined)
    const sentHeaders = headersOf({ ...headers(), ...(type !== undefined && { 'Content-Type': type }) })
    try {
      return await fetch(`${baseUrl}${path}${searchOf(sent.query)}`, {
        method,
        headers: sentHeaders,
        ...(hasBody && { body: printJson(sent.body) }),
        ...(content && { body: content.bytes }),
        signal: sent.signal ?? null,
        credentials: 'same-origin',
      })
    } catch (error) {
      if (sent.signal?.aborted) throw error
      throw new RequestFailure(0, [UNREACHABLE])
    }
  }
  const checked = async (response: Response): Promise<Response> => {
    if (response.ok) return response
    throw new RequestFailure(response.status, await problemsOf(response))
  }
  return {
    async send(method, path, sent) {
      const response = await checked(await request(method, path, sent))
      const text = await response.text()
      return text === '' ? null : parseJson(text)
    },
    async text(method, path, sent) {
      return await (await checked(await request(method, path, sent))).text()
    },
    async open(path, sent) {
      const { body } = await checked(await request('GET', path, sent))
      if (!body) throw new RequestFailure(0, [UNREACHABLE])
      return body
    },
  }
}

const UNREACHABLE: ServiceProblem = {
  errorCode: 'client:Unreachable',
  msg: 'the service cannot be reached; is it running?',
  context: '',
}

/** A header cannot hold every text; to the user, that must not look like a service that is down. */
function headersOf(headers: Readonly<Record<string, string>>): Headers {
  try {
    return new Headers(headers)
  } catch {
    throw new RequestFailure(0, [INVALID_CALLER])
  }
}

const INVALID_CALLER: ServiceProblem = {
  errorCode: 'client:InvalidCaller',
  msg: 'roles, name, claims and token must each be one line of text; correct them under View as, or sign in again',
  context: '',
}

async function problemsOf(response: Response): Promise<readonly ServiceProblem[]> {
  const text = await response.text()
  try {
    return problemsIn(parseJson(text))
  } catch {
    return []
  }
}

function searchOf(query: Sent['query'] = {}): string {
  const given = Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== undefined)
  return given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`
}
