import type { Lookup } from '../../containers/environment/environment-sources.ts'

/** What a pod chooses by the name of a RuntimeClass. */
interface RuntimeClass {
  /** The runtime's name for it. */
  readonly handler: string
}

/** Where runtime classes are looked up, each time that a sandbox is made. */
export interface RuntimeClasses {
  find(name: string): Lookup<RuntimeClass>
}
