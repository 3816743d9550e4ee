/** `smalt token`. */
import { defineCommand } from '../command.ts'

export const token = defineCommand({
  name: 'token',
  summary: 'add, list or revoke tokens',
  details:
    'Tokens are stored as hashes in the file tokens.json of the data directory. ' +
    'A running service notices a change within a second.',
  actions: [
    { words: 'add', summary: 'make a token and print it, once' },
    { words: 'list', summary: 'list the tokens, without their secrets' },
    { words: 'revoke ID', summary: 'make a token invalid' },
  ],
  options: {
    principal: { type: 'string', value: 'P', summary: 'add: the user of the token' },
    role: { type: 'string', multiple: true, value: 'R', summary: 'add: a role; may be repeated' },
    permission: {
      type: 'string',
      multiple: true,
      value: 'P',
      summary: 'add: a permission besides those of the roles; may be repeated',
    },
    claim: {
      type: 'string',
      multiple: true,
      value: 'NAME=VALUE',
      summary: 'add: a claim that row rules may refer to; may be repeated',
    },
    expires: {
      type: 'string',
      value: 'E',
      summary: 'add: when the token expires, such as 90d, 12h or 2030-12-31',
    },
    json: { type: 'boolean', summary: 'list: print JSON' },
  },
  configuration: 'used',
  effective: ['data', 'auth', 'config'],
  examples: [
    {
      command: 'smalt token add --principal ann --role editor --expires 90d',
      summary: 'make a token for ann; smalt --auth tokens accepts it',
    },
    { command: 'smalt token list --json', summary: 'list all tokens as JSON' },
  ],
  async run({ words, flags, readConfig }) {
    const { runToken } = await import('../run/token.ts')
    await runToken(words, flags, readConfig())
  },
})
