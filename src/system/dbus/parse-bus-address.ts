import { DbusConnectionError } from './dbus-error.ts'

const SYSTEM_BUS = 'unix:path=/run/dbus/system_bus_socket'

/** Where the system bus of this machine is. */
export function systemBusAddress(environment: Readonly<Record<string, string | undefined>>): string {
  return environment['DBUS_SYSTEM_BUS_ADDRESS'] || SYSTEM_BUS
}

/** The sockets of an address, in the order to try them; an abstract one begins with a zero byte, as Node wants it. */
export function parseBusAddress(address: string): readonly string[] {
  const sockets = address.split(';').flatMap((each) => {
    const [transport, options = ''] = each.split(/:(.*)/s)
    if (transport !== 'unix') return []
    return options.split(',').flatMap((option) => {
      const [key, value = ''] = option.split(/=(.*)/s)
      if (key === 'path') return [unescape(value)]
      return key === 'abstract' ? [`\0${unescape(value)}`] : []
    })
  })
  if (sockets.length > 0) return sockets
  throw new DbusConnectionError(`Cannot use bus address "${address}": expected unix:path=… or unix:abstract=…`)
}

function unescape(value: string): string {
  return value.replaceAll(/%([0-9a-fA-F]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
}
