/** `smalt completion`. */
import { defineCommand } from '../command.ts'

export const completion = defineCommand({
  name: 'completion',
  summary: 'print a script that completes commands and options in your shell',
  actions: [
    { words: 'bash', summary: 'print the script for bash' },
    { words: 'zsh', summary: 'print the script for zsh' },
    { words: 'fish', summary: 'print the script for fish' },
  ],
  options: {},
  configuration: 'refused',
  examples: [
    {
      command: 'smalt completion bash > ~/.local/share/bash-completion/completions/smalt',
      summary: 'complete in bash from the next shell on',
    },
    { command: 'smalt completion zsh > "${fpath[1]}/_smalt"', summary: 'the same in zsh' },
    { command: 'smalt completion fish > ~/.config/fish/completions/smalt.fish', summary: 'the same in fish' },
  ],
  async run({ words, commands }) {
    const { runCompletion } = await import('../run/completion.ts')
    runCompletion(words, commands)
  },
})
