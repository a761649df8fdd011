import { errorMessage } from '../../../base/telemetry/error-text.ts'
import type { TaskGroup } from '../../../base/async/task-group.ts'
import { removeTree } from '../../../system/files/files-and-folders.ts'
import type { UpDeps } from '../node-deps.ts'
import type { NodeLayout } from '../node-layout.ts'

/** Serves the page of the node in the group. Resolves to whether it is served: the node works without it. */
export async function startNodePage(
  deps: UpDeps,
  {
    layout,
    nodeName,
    port,
  }: { readonly layout: NodeLayout; readonly nodeName: string; readonly port: number | undefined },
  group: TaskGroup,
): Promise<boolean> {
  // It is of an earlier run, which served another one.
  await removeTree(layout.pageAccess)
  if (port === undefined) return false
  const tried = Promise.withResolvers<boolean>()
  group.run('page', async (signal) => {
    try {
      await deps.servePage({ port, layout, nodeName, onReady: () => tried.resolve(true) }, signal)
    } catch (error) {
      if (signal.aborted) throw error
      const isTaken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE'
      const why = isTaken ? `port ${port} is taken, choose another with --page-port` : errorMessage(error)
      deps.say(`warning: the page is not served: ${why}`)
    } finally {
      tried.resolve(false)
    }
  })
  return await tried.promise
}
