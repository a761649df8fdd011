import type { Container } from '../model/generated/core-v1.ts'

const LARGEST_PORT = 65_535

/** The number of the port that a probe names: itself, a port of its container by name, or a number in digits. */
export function computeProbePort(port: number | string, container: Pick<Container, 'ports'>): number {
  const named = container.ports?.find(({ name }) => name !== undefined && name === port)?.containerPort
  const number = typeof port === 'number' ? port : (named ?? (/^\d+$/.test(port) ? Number(port) : undefined))
  if (number === undefined) throw new Error(`Cannot find port "${port}": the container has no port of this name`)
  if (number < 1 || number > LARGEST_PORT) {
    throw new Error(`Cannot use port ${number}: expected a number from 1 to ${LARGEST_PORT}`)
  }
  return number
}
