import type { MachineInfo } from './read-machine.ts'

interface CheckedSettings {
  readonly config: { readonly failSwapOn: boolean }
  readonly flags: { readonly bootstrapKubeconfig: string }
  readonly withoutApi: boolean
}

/** Refuses to start where the configuration, or what is there of the agent, does not fit the machine. */
export function checkStart(
  { config, flags, withoutApi }: CheckedSettings,
  machine: Pick<MachineInfo, 'swapBytes'>,
): void {
  if (withoutApi && flags.bootstrapKubeconfig !== '') {
    throw new Error('Cannot bootstrap: --bootstrap-kubeconfig needs --kubeconfig, where the result is written')
  }
  if (config.failSwapOn && machine.swapBytes > 0n) {
    throw new Error(`Cannot run with swap: ${machine.swapBytes} bytes are on, expected none or failSwapOn: false`)
  }
}
