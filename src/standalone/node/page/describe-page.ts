import type { Clock } from '../../../base/async/clock.ts'
import { inspectPath } from '../../../system/files/read-bounded-file.ts'
import type { NodeLayout } from '../node-layout.ts'
import { OWN_NAME } from '../own-name.ts'
import { stateOption } from '../state-option.ts'
import { createPageLink } from './page-access.ts'

/**
 * How a person gets to the page of the node; undefined when none is served. A link lets in the first one who has it, so none is written where others may
 * read it.
 */
export async function describePage(
  deps: { readonly isTerminal: boolean; readonly clock: Clock },
  layout: NodeLayout,
): Promise<string | undefined> {
  if ((await inspectPath(layout.pageAccess)).kind === 'missing') return undefined
  const command = `${OWN_NAME} page${stateOption(layout)}`
  if (!deps.isTerminal) return `${command} prints a link for a browser`
  return `${await createPageLink(layout, 'admin', deps.clock.now())} (once; a new link: ${command})`
}
