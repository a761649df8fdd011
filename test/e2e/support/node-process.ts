/** What runs the API and the agent of a node under test. */
export interface NodeProcess {
  /** Starts it, also after its end, and waits until pods can be made. */
  start(): Promise<void>
  /** Ends the API; after SIGKILL the agent goes on alone. */
  end(signal: NodeJS.Signals): Promise<void>
  /** What it has said so far. */
  output(): Promise<string>
  /** Ends all of it before the lab does, where that has to be. */
  leave(): Promise<void>
}
