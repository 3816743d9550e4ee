/** Signing in to the page by OpenID Connect: the whole way, an expired token, and answers that are not for this tab. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { eventually } from '../../service/auth/harness.ts'
import { startTestServer } from '../../support/server.ts'
import { barriers } from './axe.ts'
import { CLIENT, startOidcProvider } from './oidc-provider.ts'
import { visitSite } from './visit.ts'

void suite('sign-in', () => {
  test('oidc: a user signs in, again when the token expires, and not by an answer for somebody else', async () => {
    await using provider = await startOidcProvider()
    const oidc = { issuer: provider.url, clientId: CLIENT, scope: 'openid roles' }
    await using server = await startTestServer({ auth: await provider.authentication(), oidc })
    // without motion, colours change at once
    await using visited = await visitSite(server.port, { reducedMotion: 'reduce' })
    const { page, open } = visited
    const signIn = page.getByRole('button', { name: `Sign in at ${new URL(provider.url).host}` })

    await open('#/data/savedSearch?sort=name')
    await signIn.waitFor()
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      assert.deepEqual(await barriers(page), [])
    }
    provider.isRefusing = true
    await signIn.click()
    await page.getByRole('alert').filter({ hasText: 'not today' }).waitFor()

    provider.isRefusing = false
    provider.lifetimeSeconds = 5
    await signIn.click()
    await page.getByRole('heading', { name: 'savedSearch', level: 1 }).waitFor()
    assert.match(page.url(), /\/ui#\/data\/savedSearch\?sort=name$/, 'the code is gone, the place is not')
    assert.deepEqual(await page.evaluate('Object.keys(sessionStorage)'), ['smalt.token'])
    await page.getByRole('button', { name: /View as by token/ }).waitFor()

    // reads again until the token has expired
    const expired = page.getByText('The token is no longer valid')
    for (let i = 0; i < 100 && !(await expired.isVisible()); i++) {
      // the page may notice the end by itself just now, and then there is nothing to press
      const soon = { timeout: 2_000 }
      const isFind = (response: { url: () => string }): boolean => response.url().includes('/data/find/')
      const answered = page.waitForResponse(isFind, soon).catch(() => undefined)
      await page
        .getByRole('button', { name: 'Read again' })
        .click(soon)
        .catch(() => undefined)
      await answered
    }
    await expired.waitFor()
    provider.lifetimeSeconds = 600
    await signIn.click()
    await page.getByRole('heading', { name: 'savedSearch', level: 1 }).waitFor()
    assert.equal(provider.issued, 2)

    // a link with a code, as somebody would send it to have others work in their account
    await page.evaluate('sessionStorage.clear()')
    await open('?code=stolen&state=x#/data')
    await signIn.waitFor()
    await page.evaluate(`sessionStorage.setItem('smalt.oidc', JSON.stringify({ state: 'mine', hash: '#/data',
      tokenEndpoint: ${JSON.stringify(`${provider.url}/token`)}, verifier: 'v', clientId: 'c', issuer: 'i' }))`)
    await open('?code=stolen&state=other#/data')
    await page.getByRole('alert').filter({ hasText: 'belongs to another sign-in' }).waitFor()
    assert.equal(provider.issued, 2)
    assert.deepEqual(await page.evaluate('Object.keys(sessionStorage)'), [])
  })

  test('oidc: a token is renewed before it expires', async () => {
    await using visited = await visitWithRenewal(3)
    const { provider, page, open } = visited
    await open('#/data/savedSearch')
    await page.getByRole('button', { name: `Sign in at ${new URL(provider.url).host}` }).click()
    await page.getByRole('heading', { name: 'savedSearch', level: 1 }).waitFor()
    const token = await page.evaluate<string>("sessionStorage.getItem('smalt.token')")
    await eventually(() => Promise.resolve(provider.issued >= 3), 'two renewals')
    provider.lifetimeSeconds = 600
    const issued = provider.issued
    await eventually(() => Promise.resolve(provider.issued > issued), 'a renewal for long')
    await page.getByRole('button', { name: 'Read again' }).click()
    await page.getByRole('heading', { name: 'savedSearch', level: 1 }).waitFor()
    assert.notEqual(await page.evaluate("sessionStorage.getItem('smalt.token')"), token)
    assert.deepEqual(await page.evaluate('Object.keys(sessionStorage)'), ['smalt.token'], 'no refresh token')
  })

  test('oidc: a token that is valid for longer than a timer can run is not renewed at once', async () => {
    await using visited = await visitWithRenewal(365 * 24 * 60 * 60)
    const { provider, page, open } = visited
    await open('#/data/savedSearch')
    await page.getByRole('button', { name: `Sign in at ${new URL(provider.url).host}` }).click()
    await page.getByRole('heading', { name: 'savedSearch', level: 1 }).waitFor()
    await page.getByRole('button', { name: 'Read again' }).click()
    await page.getByRole('heading', { name: 'savedSearch', level: 1 }).waitFor()
    assert.equal(provider.issued, 1)
  })

  test('oidc: a renewal that is under way does not undo signing out', async () => {
    await using visited = await visitWithRenewal(5)
    const { provider, page, open } = visited
    const { promise: isSignedOut, resolve: release } = Promise.withResolvers<void>()
    const { promise: isRenewed, resolve: renewed } = Promise.withResolvers<void>()
    await page.route(`${provider.url}/token`, async (route) => {
      const isRenewal = (route.request().postData() ?? '').includes('refresh_token')
      if (isRenewal) {
        renewed()
        await isSignedOut
      }
      await route.continue()
    })
    await open('#/data/savedSearch')
    const signIn = page.getByRole('button', { name: `Sign in at ${new URL(provider.url).host}` })
    await signIn.click()
    await page.getByRole('heading', { name: 'savedSearch', level: 1 }).waitFor()
    await isRenewed
    await page.getByRole('button', { name: /View as/ }).click()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await signIn.waitFor()
    const answered = page.waitForResponse(`${provider.url}/token`)
    release()
    await (await answered).finished()
    await page.evaluate("fetch('/version').then((response) => response.text())")
    assert.deepEqual(await page.evaluate('Object.keys(sessionStorage)'), [])
    await signIn.waitFor()
  })
})

/** Tokens come with a refresh token, and are valid for so long. */
async function visitWithRenewal(lifetimeSeconds: number) {
  await using stack = new AsyncDisposableStack()
  const provider = stack.use(await startOidcProvider())
  Object.assign(provider, { isRenewing: true, lifetimeSeconds })
  const oidc = { issuer: provider.url, clientId: CLIENT, scope: 'openid roles' }
  const server = stack.use(await startTestServer({ auth: await provider.authentication(), oidc }))
  const { page, open } = stack.use(await visitSite(server.port))
  const opened = stack.move()
  return { provider, page, open, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}
