/** A pod whose sandbox cannot be described to the runtime: the spec asks for something impossible. */
export class SandboxConfigError extends Error {
  override readonly name = 'SandboxConfigError'
}

/** A container that cannot be described to the runtime; its message is what users read in status and events. */
export class ContainerConfigError extends Error {
  override readonly name = 'ContainerConfigError'
  /** The reason that the container's waiting state shows. */
  readonly reason = 'CreateContainerConfigError'
}
