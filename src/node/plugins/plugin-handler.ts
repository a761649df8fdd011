/** A plugin of this node, as it presented itself. */
export interface Plugin {
  /** What it is for, such as CSIPlugin. */
  readonly type: string
  readonly name: string
  /** The socket at which it serves. */
  readonly endpoint: string
  readonly versions: readonly string[]
}

/** Uses the plugins of one type. */
export interface PluginHandler {
  /** Takes a plugin into use; the plugin receives the error when it fails, and it is tried again. */
  register(plugin: Plugin, signal: AbortSignal): Promise<void>
  /** The plugin went away. */
  deregister(plugin: Plugin): Promise<void>
}

/** By type. */
export type PluginHandlers = ReadonlyMap<string, PluginHandler>
