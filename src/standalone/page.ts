import type { PageIdentity } from '../page/server/link-tokens.ts'
import { realFolder } from '../system/files/files-and-folders.ts'
import { findNoted } from './node/known-process.ts'
import type { StandaloneDeps } from './node/node-deps.ts'
import { exitCodes, NodeError } from './node/node-error.ts'
import { computeNodeLayout } from './node/node-layout.ts'
import { createPageLink } from './node/page/page-access.ts'

export interface PageOptions {
  readonly state: string
  readonly identity: PageIdentity
}

/** Prints a link to the page of the node that is up. */
export async function runPage(deps: StandaloneDeps, { state, identity }: PageOptions): Promise<void> {
  const layout = computeNodeLayout(await realFolder(state))
  if ((await findNoted(layout.upIdentity)) === undefined)
    throw new NodeError(`There is no page: "deckhand up" does not run in ${state}`, exitCodes.otherState)
  deps.say(await createPageLink(layout, identity, deps.clock.now()))
}
