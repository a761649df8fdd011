import { findOciRuntime, toFolderError } from '../node/check-requirements.ts'
import {
  configureContainerd,
  configureNetwork,
  findContainerd,
  isConfigured,
  startContainerd,
} from '../node/runtime/containerd.ts'
import { importNodeImages } from '../images/import-images.ts'
import type { UpDeps } from '../node/node-deps.ts'
import type { NodeLayout } from '../node/node-layout.ts'
import { POD_NETWORK } from '../node/runtime/cni.ts'

/** Docker has no image of sandboxes of its own, and may not reach a registry that has one. */
export async function prepareDocker(deps: UpDeps, endpoint: string, signal: AbortSignal): Promise<void> {
  // Loaded only where there is Docker.
  const { loadIntoDocker } = await import('../images/load-into-docker.ts')
  const loaded = await loadIntoDocker(deps.clock, endpoint.replace('unix://', ''), signal)
  if (loaded.length > 0) deps.say(`images made for Docker: ${loaded.join(', ')}`)
}

/** Starts the private containerd with what it needs; true when it was not running before. */
export async function startPrivateRuntime(
  deps: UpDeps,
  node: {
    readonly layout: NodeLayout
    readonly ociRuntime: string | undefined
    readonly isDualStack: boolean
    readonly masquerade: boolean
  },
  signal: AbortSignal,
): Promise<boolean> {
  const { layout, ociRuntime: asked, isDualStack, masquerade } = node
  const containerd = { paths: layout.containerd, enter: [] }
  const running = await findContainerd(layout.containerd)
  const { bridge, subnet } = layout
  const network = {
    name: POD_NETWORK,
    bridge,
    subnet,
    subnet6: isDualStack ? layout.subnet6 : undefined,
    masquerade,
  }
  if (running === undefined) {
    const ociRuntime = asked ?? (await findOciRuntime(deps.programPath))
    await configureContainerd(deps.clock, containerd, { network, ociRuntime }, signal).catch(async (error: unknown) => {
      const isFull = (error as NodeJS.ErrnoException).code === 'ENOSPC'
      // That of the last "up" does as well.
      if (!isFull || !(await isConfigured(layout.containerd))) throw toFolderError(layout.state, error)
    })
    const { pid } = await startContainerd(deps.clock, containerd, signal)
    deps.say(`containerd started (pid ${pid})`)
  } else {
    deps.say(`containerd found running (pid ${running})`)
    if (await configureNetwork(layout.containerd, network).catch(() => false))
      deps.say('the network of pods has changed: those that run keep theirs until they are made again')
  }
  const imported = await importNodeImages(deps.clock, containerd, signal)
  if (imported.length > 0) deps.say(`images made: ${imported.join(', ')}`)
  return running === undefined
}
