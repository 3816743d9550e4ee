/** Two services that rounds ask the same of, and share: to open them costs as much as many requests. */
import { type TestService, openTestService } from '../../support/service.ts'

export interface Services extends AsyncDisposable {
  /** Its entities have no indexes. */
  readonly plain: TestService
  readonly indexed: TestService
}

export async function openServices(): Promise<Services> {
  await using stack = new AsyncDisposableStack()
  const plain = stack.use(await openTestService())
  const indexed = stack.use(await openTestService())
  const owned = stack.move()
  return { plain, indexed, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}
