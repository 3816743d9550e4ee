/** `smalt init`: writes a small project: configuration, one entity as files, and how to apply it. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { EXIT, Exit } from '../exit.ts'
import { usageError } from '../usage-error.ts'

export function runInit(words: readonly string[]): void {
  const [directory = '.', ...rest] = words
  if (rest.length > 0) throw usageError(`init takes one directory, but got ${words.join(' ')}`)
  const present = Object.keys(FILES).find((path) => existsSync(join(directory, path)))
  if (present !== undefined)
    throw new Exit(EXIT.conflict, `${join(directory, present)} exists already; nothing was written`)
  for (const [path, text] of Object.entries(FILES)) {
    const file = join(directory, path)
    mkdirSync(dirname(file), { recursive: true, mode: 0o755 })
    writeFileSync(file, text, { flag: 'wx', mode: 0o644 })
    process.stdout.write(`${file}\n`)
  }
  process.stderr.write(`see ${join(directory, 'README.md')} for what to do next\n`)
}

const ENTITY = {
  name: 'note',
  defaultVersion: '1.0.0',
  indexes: [{ name: 'created', fields: [{ field: 'created', dir: '$desc' }] }],
}

const SCHEMA = {
  name: 'note',
  version: { value: '1.0.0', changelog: 'first version' },
  status: { value: 'active' },
  access: { find: ['anyone'], insert: ['writer'], update: ['writer'], delete: ['writer'] },
  fields: {
    title: { type: 'string', constraints: { required: true, maxLength: 200 } },
    text: { type: 'string' },
    tags: { type: 'array', items: { type: 'string' } },
    created: { type: 'date', valueGenerator: { type: 'CurrentTime' }, constraints: { required: true } },
  },
}

const README = `# A Smalt project

- \`smalt.json\`: settings of the service; \`smalt config\` prints all of them
- \`metadata\`: one directory for each entity, one file for each version

Start the service in this directory, and apply the metadata from a second terminal:

    smalt
    smalt metadata apply metadata

Insert and find a document:

    smalt insert note '{"title":"Hello","tags":["first"]}' --role writer
    smalt find note

To change an entity, add a file for a new version, and apply it again. Before other machines may connect, turn
authentication on: \`smalt token add\`, and \`"auth": { "tokens": {} }\` in \`smalt.json\`.
`

const FILES: Readonly<Record<string, string>> = {
  'smalt.json': `${JSON.stringify({ host: '127.0.0.1', port: 8080, data: './data' }, undefined, 2)}\n`,
  'metadata/note/entity.json': `${JSON.stringify(ENTITY, undefined, 2)}\n`,
  'metadata/note/1.0.0.json': `${JSON.stringify(SCHEMA, undefined, 2)}\n`,
  '.gitignore': 'data/\n',
  'README.md': README,
}
