/** The few options of curl that the pages use, so that their commands run also where there is no curl. */

export async function runCurl(command: string): Promise<string> {
  const { url, method, headers, body, seconds } = readCommand(command)
  const signal = seconds === undefined ? undefined : AbortSignal.timeout(seconds * 1_000)
  const response = await fetch(url, {
    method,
    headers,
    ...(body !== undefined && { body }),
    ...(signal && { signal }),
  })
  return signal ? await textUntil(signal, response) : await response.text()
}

/** What had come when the time was over. */
async function textUntil(signal: AbortSignal, { body }: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  try {
    for await (const chunk of body!) text += decoder.decode(chunk, { stream: true })
  } catch (error) {
    if (!signal.aborted) throw error
  }
  return text
}

interface Command {
  url: string
  method: string
  readonly headers: Record<string, string>
  body?: string
  /** After which the answer counts as it is. */
  seconds?: number
}

function readCommand(text: string): Command {
  const { variables, line } = assigned(text)
  const [program, ...words] = wordsOf(line, variables)
  if (program !== 'curl') throw new Error(`${program} is no curl`)
  const command: Command = { url: '', method: 'GET', headers: {} }
  const rest = words.values()
  for (const word of rest) {
    if (word === '-sS' || word === '-N') continue
    if (word === '-X') command.method = rest.next().value!
    else if (word === '--max-time') command.seconds = Number(rest.next().value!)
    else if (word === '-H') {
      const header = rest.next().value!
      const colon = header.indexOf(':')
      command.headers[header.slice(0, colon)] = header.slice(colon + 1).trim()
    } else if (word === '--json') {
      command.body = rest.next().value!
      command.headers['Content-Type'] = 'application/json'
      command.headers['Accept'] = 'application/json'
    } else if (word.startsWith('-')) throw new Error(`the pages may not use curl ${word}`)
    else command.url = word
  }
  return command
}

/** Lines such as `NEXT='…'` set variables for the command after them. */
function assigned(text: string): { variables: ReadonlyMap<string, string>; line: string } {
  const variables = new Map<string, string>()
  let line = text
  for (;;) {
    const found = /^(\w+)='([^']*)'\n/.exec(line)
    if (!found) return { variables, line }
    variables.set(found[1]!, found[2]!)
    line = line.slice(found[0].length)
  }
}

/** Words as a shell sees them, as far as quotes, variables in double quotes and line ends go. */
function wordsOf(text: string, variables: ReadonlyMap<string, string>): readonly string[] {
  const expand = (quoted: string): string =>
    quoted.replaceAll(/\$(\w+)/g, (_, name: string) => variables.get(name) ?? '')
  return [...text.matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g)].map(([word]) =>
    word.replaceAll(/'([^']*)'|"([^"]*)"/g, (_, plain?: string, quoted?: string) => plain ?? expand(quoted!)),
  )
}
