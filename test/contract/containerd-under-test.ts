import { BUSYBOX_IMAGE } from '../../src/standalone/images/node-images.ts'
import { startLab } from '../e2e/lab/start-lab.ts'
import type { ContractSubject } from './contract-pod.ts'

/** A runtime that the contract is tried on. */
export interface RuntimeUnderTest extends AsyncDisposable {
  readonly endpoint: string
  /** An image with busybox. */
  readonly image: string
  /** A cgroup that holds all that the runtime makes. */
  readonly cgroupParent: string
  /** How a container ends that cannot start, where that is not as with containerd. */
  readonly cannotStart?: ContractSubject['cannotStart']
}

/** A real containerd, in a lab of its own. */
export async function startContainerdUnderTest(): Promise<RuntimeUnderTest> {
  const lab = await startLab('containerd')
  return {
    endpoint: lab.containerd.endpoint,
    image: BUSYBOX_IMAGE,
    cgroupParent: lab.cgroupRoot,
    [Symbol.asyncDispose]: () => lab[Symbol.asyncDispose](),
  }
}
