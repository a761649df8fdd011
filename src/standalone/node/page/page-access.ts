import { issueLinkToken } from '../../../page/server/link-tokens.ts'
import type { PageIdentity } from '../../../page/server/link-tokens.ts'
import { isRecord } from '../../../base/document/is-record.ts'
import { writeFileDurably } from '../../../system/files/state/durable-file.ts'
import { readTextIfPresent } from '../../../system/files/files-and-folders.ts'
import { exitCodes, NodeError } from '../node-error.ts'
import type { NodeLayout } from '../node-layout.ts'

/** What commands need to make links to the page that is served; for root alone. */
export interface PageAccess {
  readonly port: number
  /** Made when the page begins to be served: links of an earlier one are no good. */
  readonly key: string
}

export async function writePageAccess({ pageAccess }: NodeLayout, access: PageAccess): Promise<void> {
  await writeFileDurably(pageAccess, `${JSON.stringify(access)}\n`, { mode: 0o600 })
}

/** A link that signs in once, with the rights of an identity. */
export async function createPageLink(layout: NodeLayout, identity: PageIdentity, now: number): Promise<string> {
  const access = parseAccess(await readAccess(layout))
  if (access === undefined)
    throw new NodeError(
      'There is no page: "deckhand up" was started with "--page-port 0", or could not serve it',
      exitCodes.otherState,
    )
  return `http://127.0.0.1:${access.port}/sign-in?token=${issueLinkToken(access.key, identity, now)}`
}

async function readAccess({ pageAccess }: NodeLayout): Promise<string | undefined> {
  return await readTextIfPresent(pageAccess).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error
    throw new NodeError('Cannot make a link: this needs root (try sudo)', exitCodes.unfitMachine, { cause: error })
  })
}

function parseAccess(text: string | undefined): PageAccess | undefined {
  try {
    const value: unknown = JSON.parse(text ?? '')
    if (!isRecord(value) || typeof value['port'] !== 'number' || typeof value['key'] !== 'string') return undefined
    return { port: value['port'], key: value['key'] }
  } catch {
    return undefined
  }
}
