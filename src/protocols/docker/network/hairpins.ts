import type { Logger } from '../../../base/telemetry/logger.ts'
import type { DockerFiles } from '../../../system/directories/docker-files.ts'
import type { InspectedContainer } from '../api/docker-types.ts'
import { isOnBridge } from '../read/to-sandbox.ts'

export interface HairpinDeps {
  readonly ports: {
    /** Has a bridge send packets back to the port of the container whose first process this is. */
    allowHairpin(pid: number): Promise<void>
  }
  readonly files: Pick<DockerFiles, 'findNetworkNamespace'>
  readonly log: Logger
}

/**
 * Lets pods on Docker's bridge reach themselves through their own services: where the kernel filters what a bridge passes on, the address of
 * a service is replaced before the bridge chooses a port, and that is then the one which the packet came from.
 * Parity: pkg/kubelet/dockershim/network/hairpin SetUpContainerPid().
 */
export class Hairpins {
  readonly #deps: HairpinDeps
  readonly #seen = new Set<string>()

  constructor(deps: HairpinDeps) {
    this.#deps = deps
  }

  /** Once for each sandbox. A pod that cannot have it runs without. */
  async ensure(sandbox: InspectedContainer): Promise<void> {
    const { Id: id, State: state } = sandbox
    if (!state.Running || !isOnBridge(sandbox) || this.#seen.has(id)) return
    this.#seen.add(id)
    const { files, ports, log } = this.#deps
    try {
      if ((await files.findNetworkNamespace(state.Pid, id)) !== '') await ports.allowHairpin(state.Pid)
    } catch (error) {
      log.warn('cannot set hairpin mode: the pod does not reach itself through its services', { sandbox: id, error })
    }
  }

  forget(id: string): void {
    this.#seen.delete(id)
  }
}
