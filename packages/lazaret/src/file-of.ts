/** The path in 'sqlite:./orders.db', and as people write it 'sqlite://./orders.db'; 'sqlite:///var/orders.db' is the absolute path. */
export function fileOf(address: string): string {
  const path = address.slice('sqlite:'.length);
  return path.startsWith('//') ? path.slice(2) : path;
}
