import type { CniNetwork, CniPlugin } from './parse-network.ts'

export type CniCommand = 'ADD' | 'DEL' | 'CHECK'

/** A pod at a network. */
export interface CniAttachment {
  readonly containerId: string
  /** The path of its network namespace; empty when that is gone. */
  readonly namespace: string
  /** The name of the device in the pod. */
  readonly device: string
  readonly args: readonly (readonly [key: string, value: string])[]
  /** What plugins may ask for, by capability. */
  readonly capabilities: Readonly<Record<string, unknown>>
}

/** How a plugin is run. */
export interface PluginCall {
  readonly environment: Readonly<Record<string, string>>
  readonly stdin: string
}

export interface CallSettings {
  readonly programs: readonly string[]
  /** For the first plugin, where its configuration has none; 0 for none. */
  readonly mtu: number
}

/** What one plugin of a network gets: who it is for in the environment, and its own configuration with what the plugin before it did. */
export function computePluginCall(
  command: CniCommand,
  { network, plugin, previous }: { network: CniNetwork; plugin: CniPlugin; previous: unknown },
  { containerId, namespace, device, args, capabilities }: CniAttachment,
  { programs, mtu }: CallSettings,
): PluginCall {
  const asked = plugin.capabilities.filter((name) => Object.hasOwn(capabilities, name))
  const isFirst = plugin === network.plugins[0]
  const configuration = {
    ...(isFirst && mtu > 0 ? { mtu } : {}),
    ...plugin.settings,
    name: network.name,
    cniVersion: network.version,
    ...(asked.length === 0
      ? {}
      : { runtimeConfig: Object.fromEntries(asked.map((name) => [name, capabilities[name]])) }),
    ...(previous === undefined ? {} : { prevResult: previous }),
  }
  return {
    environment: {
      CNI_COMMAND: command,
      CNI_CONTAINERID: containerId,
      CNI_NETNS: namespace,
      CNI_IFNAME: device,
      CNI_ARGS: args.map(([key, value]) => `${key}=${value}`).join(';'),
      CNI_PATH: programs.join(':'),
    },
    stdin: JSON.stringify(configuration),
  }
}

/** Before it, a plugin was not given what it had done, and there was no CHECK. */
const RESULTS_SINCE = [0, 4] as const

/** Do plugins of this version get to know what they did, when they have to check or undo it? */
export function knowsResults(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major > RESULTS_SINCE[0] || minor >= RESULTS_SINCE[1]
}
