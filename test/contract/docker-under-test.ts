import { BUSYBOX_IMAGE } from '../../src/standalone/images/node-images.ts'
import { startLab } from '../e2e/lab/start-lab.ts'
import type { RuntimeUnderTest } from './containerd-under-test.ts'

/** A real dockerd, in a lab of its own. */
export async function startDockerUnderTest(): Promise<RuntimeUnderTest> {
  const lab = await startLab('docker')
  return {
    endpoint: lab.runtime.endpoint,
    image: BUSYBOX_IMAGE,
    cgroupParent: lab.cgroupRoot,
    // Docker keeps the exit code of the shell in such a case.
    cannotStart: { exitCode: 127, reason: 'ContainerCannotRun' },
    [Symbol.asyncDispose]: () => lab[Symbol.asyncDispose](),
  }
}
