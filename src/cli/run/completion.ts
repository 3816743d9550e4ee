/** `smalt completion`: scripts for shells, generated from the records of the commands. */
import type { Command } from '../command.ts'
import { CONFIG_OPTIONS } from '../config/flags.ts'
import { type Option, dashed } from '../option.ts'
import { usageError } from '../usage-error.ts'

const SHELLS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const

export function runCompletion(words: readonly string[], commands: readonly Command[]): void {
  const [shell = '', ...rest] = words
  if (rest.length > 0 || !Object.hasOwn(SHELLS, shell)) {
    const known = Object.keys(SHELLS)
    throw usageError(`completion takes ${known.join(', ')}`, { word: shell, known })
  }
  process.stdout.write(SHELLS[shell as keyof typeof SHELLS](commands))
}

function optionsOf({ options, configuration }: Command): readonly (readonly [string, Option])[] {
  const all = configuration === 'refused' ? options : { ...options, ...CONFIG_OPTIONS }
  return [...Object.entries(all), ['help', { type: 'boolean', summary: 'print the help' }]]
}

/** The words that may follow a command, without placeholders. */
function wordsAfter({ actions = [] }: Command): readonly string[] {
  const first = actions.map(({ words }) => words.split(' ')[0]!).filter((word) => /^[a-z]/.test(word))
  return [...new Set(first)]
}

function bashScript(commands: readonly Command[]): string {
  const cases = commands.map((command) => {
    const words = [...wordsAfter(command), ...optionsOf(command).map(([name]) => dashed(name))]
    return `    ${command.name}) words='${words.join(' ')}' ;;\n`
  })
  const names = commands.map(({ name }) => name).join(' ')
  return `# bash completion for smalt
_smalt() {
  local current="\${COMP_WORDS[COMP_CWORD]}" command='' words='' i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case " ${names} " in *" \${COMP_WORDS[i]} "*) command="\${COMP_WORDS[i]}"; break ;; esac
  done
  case "$command" in
    '') words='${names} --help --version' ;;
${cases.join('')}  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  [ "\${#COMPREPLY[@]}" -gt 0 ] || COMPREPLY=($(compgen -f -- "$current"))
}
complete -o filenames -F _smalt smalt
`
}

function zshScript(commands: readonly Command[]): string {
  const list = commands.map(({ name, summary }) => `    '${quoted(`${name}:${summary}`)}'\n`).join('')
  const cases = commands.map((command) => {
    const options = optionsOf(command).map(
      ([name, { type, summary, multiple }]) =>
        ` '${multiple ? '*' : ''}${dashed(name)}[${quoted(summary).replaceAll(/[[\]:]/g, ' ')}]${type === 'string' ? ':value:_files' : ''}'`,
    )
    const words = wordsAfter(command)
    const rest = words.length === 0 ? " '*:file:_files'" : ` '1:action:(${words.join(' ')})' '*:file:_files'`
    return `    ${command.name}) _arguments${options.join('')}${rest} ;;\n`
  })
  return `#compdef smalt
_smalt() {
  local -a commands
  commands=(
${list}  )
  if (( CURRENT == 2 )); then
    _describe 'command' commands
    return
  fi
  local command="\${words[2]}"
  shift words
  (( CURRENT-- ))
  case "$command" in
${cases.join('')}  esac
}
if [ "$funcstack[1]" = "_smalt" ]; then _smalt "$@"; else compdef _smalt smalt; fi
`
}

function quoted(text: string): string {
  return text.replaceAll("'", "'\\''")
}

function fishScript(commands: readonly Command[]): string {
  const names = commands.map(({ name }) => name).join(' ')
  const lines = commands.flatMap((command) => {
    const { name, summary } = command
    const isHere = `'__fish_seen_subcommand_from ${name}'`
    return [
      `complete -c smalt -n 'not __fish_seen_subcommand_from ${names}' -a ${name} -d '${fishQuoted(summary)}'`,
      ...wordsAfter(command).map((word) => `complete -c smalt -n ${isHere} -a ${word}`),
      ...optionsOf(command).map(
        ([option, each]) =>
          `complete -c smalt -n ${isHere} -l ${option}${each.type === 'string' ? ' -r' : ''} -d '${fishQuoted(each.summary)}'`,
      ),
    ]
  })
  return `# fish completion for smalt\n${lines.join('\n')}\n`
}

function fishQuoted(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")
}
