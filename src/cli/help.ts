/** The help, generated from the records of commands and options. Examples come first. */
import type { Command } from './command.ts'
import { describedConfigOptions } from './config/flags.ts'
import { EXIT_MEANINGS } from './exit.ts'
import { type Option, type Options, dashed } from './option.ts'

/** The output of `smalt --help`. */
export function overview(commands: readonly Command[]): string {
  const examples = commands.flatMap((command, i) =>
    i === 0 ? command.examples : command.examples.slice(0, 1),
  )
  return page([
    'Smalt stores JSON documents by entity, with versioned schemas and access by role.',
    section('Examples', exampleRows(examples)),
    section(
      'Commands',
      commands.map(({ name, summary }) => row(name, summary)),
    ),
    '"smalt COMMAND --help" explains a command and its options.',
    section('Options', [
      ...optionRows(describedConfigOptions()),
      row('-h, --help', 'print this help; with a command, the help of that command'),
      row('-v, --version', 'print the version'),
    ]),
    paragraph(SETTINGS),
    paragraph(`Exit codes: ${EXIT_MEANINGS.map(([code, meaning]) => `${code} ${meaning}`).join(', ')}.`),
  ])
}

/** The output of `smalt COMMAND --help`. */
export function commandHelp(command: Command): string {
  const { name, summary, details, actions = [], options, configuration, effective, examples } = command
  const actionRows = actions.map((action) => row(`smalt ${name} ${action.words}`.trimEnd(), action.summary))
  return page([
    paragraph(`smalt ${name}: ${summary}`),
    ...(details === undefined ? [] : [paragraph(details)]),
    section('Examples', exampleRows(examples)),
    section('Actions', actionRows),
    section('Options', [...optionRows(options), row('-h, --help', 'print this help')]),
    section(
      'Options of the configuration',
      configuration === 'used' ? optionRows(configOptionsBeside(options, effective)) : [],
    ),
  ])
}

/** Without those that an option of the command hides, and those without effect. */
function configOptionsBeside(own: Options, effective: readonly string[] | undefined): Options {
  const others = Object.entries(describedConfigOptions()).filter(
    ([name]) => !Object.hasOwn(own, name) && (effective?.includes(name) ?? true),
  )
  return Object.fromEntries(others)
}

const SETTINGS =
  'Every setting of smalt.json has a variable: limits.bodyBytes is SMALT_LIMITS_BODY_BYTES. Flags override variables, ' +
  'variables override the file. "smalt config" shows the effective values and their sources.'

const WIDTH = 100
const INDENT = 2
/** The offset of the second column. */
const COLUMN = 25

function page(parts: readonly string[]): string {
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`
}

/** Empty when there are no rows. */
function section(title: string, rows: readonly string[]): string {
  return rows.length === 0 ? '' : [title, ...rows].join('\n')
}

function exampleRows(examples: Command['examples']): readonly string[] {
  return examples.map(({ command, summary }) => row(command, summary))
}

function optionRows(options: Options): readonly string[] {
  return Object.entries<Option>(options).map(([name, { value, summary }]) =>
    row(value === undefined ? dashed(name) : `${dashed(name)} ${value}`, summary),
  )
}

/** Two columns; a long term has a line of its own. */
function row(term: string, text: string): string {
  const lines = wrapped(text, WIDTH - COLUMN)
  const begin = ' '.repeat(INDENT) + term
  const next = `\n${' '.repeat(COLUMN)}`
  const isLong = begin.length + 2 > COLUMN
  return (isLong ? begin + next : begin.padEnd(COLUMN)) + lines.join(next)
}

function paragraph(text: string): string {
  return wrapped(text, WIDTH).join('\n')
}

function wrapped(text: string, width: number): readonly string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`
    if (longer.length > width && line !== '') {
      lines.push(line)
      line = word
    } else line = longer
  }
  return [...lines, line]
}
