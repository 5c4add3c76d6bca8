-- ANEP (Active Network Encapsulation Protocol, RFC draft of July 1997) with Tamanoir's private options.
-- For Wireshark and tshark 3.6 and later; see README.md beside this file.
--
--  octet 0        1        2        3
--       +--------+--------+--------+--------+
--     0 |Version | Flags  |     Type ID     |   basic header, 8 octets
--       +--------+--------+--------+--------+
--     4 | ANEP Hdr Length | ANEP Pkt Length |   32-bit words | octets
--       +--------+--------+--------+--------+
--     8 | options, (HdrLen-2)*4 octets      |   flags 2 bits, type 14 bits, length 16 bits in words, content
--       +-----------------------------------+
--   4*H | payload, PktLen - 4*HdrLen octets |
--       +-----------------------------------+
--
-- UDP: one packet in a datagram. TCP: packets back to back, reassembled over segments.
-- Bits are taken apart by arithmetic: the bit libraries differ between Lua 5.2, 5.3 and 5.4.

local anep = Proto("anep", "Active Network Encapsulation Protocol")

local VERSION = 1
local BASIC_HEADER = 8
local PRIVATE = 0x8000
local DISCARD = 0x4000
local PORT_TYPE_TCP = 2

local type_names = { [0] = "reserved", [0x544D] = "Tamanoir" }
local scheme_names = { [1] = "IPv4", [2] = "IPv6", [3] = "IEEE 802.3" }
local authentication_names = { [1] = "SPKI", [2] = "X.509" }
local public_names = {
    [1] = "Source identifier", [2] = "Destination identifier", [3] = "Checksum", [4] = "Authentication",
}
local private_names = {
    [1] = "Service key", [2] = "Class of service", [3] = "Previous active node", [4] = "Stream and sequence",
    [5] = "Round", [6] = "Format", [7] = "Hop budget", [8] = "Timestamps", [9] = "Authentication",
    [10] = "Destination port",
}
-- Whole options in words, where that is fixed.
local public_words = { [3] = 2 }
local private_words = { [1] = 3, [2] = 2, [4] = 4, [5] = 4, [6] = 4, [7] = 2, [8] = 5, [9] = 11, [10] = 2 }
local scheme_words = { [1] = 3, [2] = 6, [3] = 4 }
-- The first 64 bits of SHA-256 over the names of the services that ship with the node.
local service_names = {
    ["5c45218bc0fa7a67"] = "org.tamanoir.services.Echo",
    ["775bdfad00bef18e"] = "org.tamanoir.services.Filter",
    ["fb298ad122ad7123"] = "org.tamanoir.services.Gunzip",
    ["74069533e0ceee42"] = "org.tamanoir.services.Gzip",
    ["b8040a189d039171"] = "org.tamanoir.services.Impair",
    ["cd5ea5671e5f4c26"] = "org.tamanoir.services.Monitor",
    ["e9907f824ee956f1"] = "org.tamanoir.services.Reflect",
}

local f = {
    version = ProtoField.uint8("anep.version", "Version", base.DEC),
    flags = ProtoField.uint8("anep.flags", "Flags", base.HEX),
    flag_discard = ProtoField.bool("anep.flags.discard", "Discard where the Type ID is unknown", 8, nil, 0x80),
    type_id = ProtoField.uint16("anep.type_id", "Type ID", base.HEX, type_names),
    header_words = ProtoField.uint16("anep.header_words", "Header length (32-bit words)", base.DEC),
    header_octets = ProtoField.uint32("anep.header_octets", "Header length (octets)", base.DEC),
    length = ProtoField.uint16("anep.length", "Packet length (octets)", base.DEC),
    option = ProtoField.none("anep.option", "Option"),
    option_word = ProtoField.uint16("anep.option.flags_and_type", "Flags and type", base.HEX),
    option_private = ProtoField.bool("anep.option.private", "Private to the Type ID", 16, nil, PRIVATE),
    option_discard = ProtoField.bool("anep.option.discard", "Discard where the option is unknown", 16, nil, DISCARD),
    option_type = ProtoField.uint16("anep.option.type", "Type", base.DEC, nil, 0x3FFF),
    option_words = ProtoField.uint16("anep.option.words", "Length (32-bit words)", base.DEC),
    option_content = ProtoField.bytes("anep.option.content", "Content"),
    source_scheme = ProtoField.uint32("anep.source.scheme", "Scheme", base.DEC, scheme_names),
    source_ipv4 = ProtoField.ipv4("anep.source.ipv4", "Source"),
    source_ipv6 = ProtoField.ipv6("anep.source.ipv6", "Source"),
    source_ether = ProtoField.ether("anep.source.ether", "Source"),
    source_other = ProtoField.bytes("anep.source.other", "Source"),
    destination_scheme = ProtoField.uint32("anep.destination.scheme", "Scheme", base.DEC, scheme_names),
    destination_ipv4 = ProtoField.ipv4("anep.destination.ipv4", "Destination"),
    destination_ipv6 = ProtoField.ipv6("anep.destination.ipv6", "Destination"),
    destination_ether = ProtoField.ether("anep.destination.ether", "Destination"),
    destination_other = ProtoField.bytes("anep.destination.other", "Destination"),
    checksum = ProtoField.uint16("anep.checksum", "Checksum", base.HEX),
    checksum_status = ProtoField.string("anep.checksum.status", "Checksum status"),
    authentication_scheme =
        ProtoField.uint32("anep.authentication.scheme", "Scheme", base.DEC, authentication_names),
    authentication_data = ProtoField.bytes("anep.authentication.data", "Authentication"),
    payload = ProtoField.bytes("anep.payload", "Payload"),
    payload_octets = ProtoField.uint32("anep.payload_octets", "Payload length (octets)", base.DEC),
    trailer = ProtoField.bytes("anep.trailer", "Octets behind the packet"),
    drop = ProtoField.string("anep.drop_reason", "A node drops it as"),

    service_key = ProtoField.uint64("anep.tamanoir.service_key", "Service key", base.HEX),
    service = ProtoField.string("anep.tamanoir.service", "Service"),
    class = ProtoField.uint8("anep.tamanoir.class", "Class of service", base.DEC),
    precedence = ProtoField.uint8("anep.tamanoir.drop_precedence", "Drop precedence", base.DEC),
    node_scheme = ProtoField.uint32("anep.tamanoir.previous_node.scheme", "Scheme", base.DEC, scheme_names),
    node_ipv4 = ProtoField.ipv4("anep.tamanoir.previous_node.ipv4", "Previous active node"),
    node_ipv6 = ProtoField.ipv6("anep.tamanoir.previous_node.ipv6", "Previous active node"),
    node_ether = ProtoField.ether("anep.tamanoir.previous_node.ether", "Previous active node"),
    node_other = ProtoField.bytes("anep.tamanoir.previous_node.other", "Previous active node"),
    node_port = ProtoField.uint16("anep.tamanoir.previous_node.port", "Port of its code server", base.DEC),
    stream_id = ProtoField.uint32("anep.tamanoir.stream_id", "Stream id", base.DEC),
    sequence = ProtoField.uint64("anep.tamanoir.sequence", "Sequence number", base.DEC),
    round = ProtoField.uint64("anep.tamanoir.round", "Round", base.DEC),
    path = ProtoField.uint16("anep.tamanoir.path", "Path", base.DEC),
    round_flags = ProtoField.uint8("anep.tamanoir.round_flags", "Flags", base.HEX),
    round_empty = ProtoField.bool("anep.tamanoir.round_flags.empty", "Marker of an empty round", 8, nil, 0x01),
    round_last = ProtoField.bool("anep.tamanoir.round_flags.last", "Last of the round on this path", 8, nil, 0x02),
    round_path_ends = ProtoField.bool("anep.tamanoir.round_flags.path_ends", "Nothing follows on this path", 8, nil, 0x04),
    round_path_begins = ProtoField.bool("anep.tamanoir.round_flags.path_begins", "This path begins with the next round", 8, nil, 0x08),
    round_first = ProtoField.bool("anep.tamanoir.round_flags.first", "First round of a start of the distributor", 8, nil, 0x10),
    format = ProtoField.bytes("anep.tamanoir.format", "Format identifier"),
    hops = ProtoField.uint16("anep.tamanoir.hops", "Active hops left", base.DEC),
    origin_time = ProtoField.uint64("anep.tamanoir.origin_time", "Origin time (ns)", base.DEC),
    egress_time = ProtoField.uint64("anep.tamanoir.egress_time", "Egress time (ns)", base.DEC),
    key_id = ProtoField.uint32("anep.tamanoir.authentication.key_id", "Key id", base.HEX),
    algorithm = ProtoField.uint32("anep.tamanoir.authentication.algorithm", "Algorithm", base.DEC),
    hmac = ProtoField.bytes("anep.tamanoir.authentication.hmac", "HMAC-SHA-256"),
    destination_port = ProtoField.uint16("anep.tamanoir.destination_port", "Destination port", base.DEC),
}
do
    local all = {}
    for _, field in pairs(f) do
        all[#all + 1] = field
    end
    anep.fields = all
end

local e_drop = ProtoExpert.new("anep.expert.drop", "A node drops this packet", expert.group.MALFORMED,
    expert.severity.ERROR)
local e_checksum = ProtoExpert.new("anep.expert.checksum", "Wrong checksum", expert.group.CHECKSUM,
    expert.severity.ERROR)
local e_repeated = ProtoExpert.new("anep.expert.repeated", "Option stands there already: the first one counts",
    expert.group.PROTOCOL, expert.severity.WARN)
local e_trailer = ProtoExpert.new("anep.expert.trailer", "The datagram is longer than its packet",
    expert.group.PROTOCOL, expert.severity.WARN)
local e_part = ProtoExpert.new("anep.expert.part", "The rest of the packet is not here", expert.group.REASSEMBLE,
    expert.severity.NOTE)
anep.experts = { e_drop, e_checksum, e_repeated, e_trailer, e_part }

anep.prefs.ports = Pref.range("TCP and UDP ports", "3322-3325", "Ports on which packets are ANEP", 65535)
anep.prefs.type_id = Pref.uint("Tamanoir's Type ID", 0x544D, "Private options are Tamanoir's under this Type ID (21581 = 0x544D)")
anep.prefs.checksum = Pref.bool("Verify checksums", true, "Sum up each packet that has a checksum option")
anep.prefs.heuristic = Pref.bool("Look for ANEP on all ports", false,
    "Take what looks like a whole ANEP packet for one, on any port")

-- Other scripts can add dissectors of payloads: DissectorTable.get("anep.type_id"):add(0x4A4E, my_proto)
local payload_dissectors = DissectorTable.new("anep.type_id", "ANEP Type ID", ftypes.UINT16, base.HEX, anep)

-- RFC 1071: 0xFFFF for a packet whose checksum is right.
local function ones_complement_sum(octets)
    local sum = 0
    local n = #octets
    for i = 1, n - 1, 2 do
        local high, low = octets:byte(i, i + 1)
        sum = sum + high * 256 + low
    end
    if n % 2 == 1 then
        sum = sum + octets:byte(n) * 256
    end
    while sum > 0xFFFF do
        sum = sum % 0x10000 + math.floor(sum / 0x10000)
    end
    return sum
end

-- An identifier: scheme, then an address of as many octets as the scheme says.
local function add_address(tree, range, prefix)
    local scheme = range(0, 4):uint()
    tree:add(f[prefix .. "_scheme"], range(0, 4))
    local rest = range:len() - 4
    if scheme == 1 and rest >= 4 then
        tree:add(f[prefix .. "_ipv4"], range(4, 4))
        return 8, tostring(range(4, 4):ipv4())
    elseif scheme == 2 and rest >= 16 then
        tree:add(f[prefix .. "_ipv6"], range(4, 16))
        return 20, tostring(range(4, 16):ipv6())
    elseif scheme == 3 and rest >= 6 then
        tree:add(f[prefix .. "_ether"], range(4, 6))
        return math.min(12, range:len()), tostring(range(4, 6):ether())
    elseif rest > 0 then
        tree:add(f[prefix .. "_other"], range(4, rest))
    end
    return range:len(), nil
end

-- What options of a fixed length, and the identifiers, hold. `range` is the content behind the first word.
local function add_public(tree, range, kind, found)
    if kind == 1 then
        local _, address = add_address(tree, range, "source")
        found.source = found.source or address
    elseif kind == 2 then
        local _, address = add_address(tree, range, "destination")
        found.destination = found.destination or address
    elseif kind == 3 then
        found.checksum_item = found.checksum_item or tree:add(f.checksum, range(0, 2))
    elseif kind == 4 then
        tree:add(f.authentication_scheme, range(0, 4))
        if range:len() > 4 then
            tree:add(f.authentication_data, range(4))
        end
    end
end

local private_content = {
    [1] = function(tree, range, found)
        tree:add(f.service_key, range(0, 8))
        local key = tostring(range(0, 8):bytes()):lower()
        local name = service_names[key]
        if name then
            tree:add(f.service, range(0, 8), name):set_generated()
        end
        found.service = found.service or name or ("service " .. key)
    end,
    [2] = function(tree, range)
        tree:add(f.class, range(0, 1))
        tree:add(f.precedence, range(1, 1))
    end,
    [3] = function(tree, range)
        local octets = add_address(tree, range, "node")
        if range:len() >= octets + 2 then
            tree:add(f.node_port, range(octets, 2))
        end
    end,
    [4] = function(tree, range, found)
        tree:add(f.stream_id, range(0, 4))
        tree:add(f.sequence, range(4, 8))
        found.stream = found.stream
            or string.format("stream %d, number %s", range(0, 4):uint(), tostring(range(4, 8):uint64()))
    end,
    [5] = function(tree, range)
        tree:add(f.round, range(0, 8))
        tree:add(f.path, range(8, 2))
        local flags = tree:add(f.round_flags, range(10, 1))
        flags:add(f.round_empty, range(10, 1))
        flags:add(f.round_last, range(10, 1))
        flags:add(f.round_path_ends, range(10, 1))
        flags:add(f.round_path_begins, range(10, 1))
        flags:add(f.round_first, range(10, 1))
    end,
    [6] = function(tree, range)
        tree:add(f.format, range(0, 12))
    end,
    [7] = function(tree, range)
        tree:add(f.hops, range(0, 2))
    end,
    [8] = function(tree, range)
        tree:add(f.origin_time, range(0, 8))
        tree:add(f.egress_time, range(8, 8))
    end,
    [9] = function(tree, range)
        tree:add(f.key_id, range(0, 4))
        tree:add(f.algorithm, range(4, 4))
        tree:add(f.hmac, range(8, 32))
    end,
    [10] = function(tree, range)
        tree:add(f.destination_port, range(0, 2))
    end,
}

-- Receive rule 8: nil when the length fits, else true.
local function misfits(is_private, kind, words, range)
    local fixed = is_private and private_words[kind] or not is_private and public_words[kind]
    if fixed then
        return words ~= fixed
    end
    local extra = is_private and kind == 3 and 1 or 0
    if extra == 1 or not is_private and (kind == 1 or kind == 2) then
        if words < 2 then
            return true
        end
        local fitting = scheme_words[range(0, 4):uint()]
        return fitting ~= nil and words ~= fitting + extra
    end
    return false
end

-- Adds the option at `at`; returns its octets, or nil when its length is wrong (receive rule 5).
local function add_option(tvb, at, header_end, tree, is_tamanoir, found)
    local words = tvb(at + 2, 2):uint()
    local octets = words * 4
    if words == 0 or at + octets > header_end then
        local item = tree:add(f.option, tvb(at, math.min(4, header_end - at)))
        item:set_text(string.format("Option of %d words where %d are left", words, (header_end - at) / 4))
        return nil
    end
    local first = tvb(at, 2):uint()
    local is_private = first >= PRIVATE
    local kind = first % DISCARD
    local asks_discard = first % PRIVATE >= DISCARD
    local counts = not is_private or is_tamanoir
    local name = counts and (is_private and private_names or public_names)[kind]

    local item = tree:add(f.option, tvb(at, octets))
    item:set_text("Option: " .. (name or string.format("%s 0x%04x", is_private and "private" or "unknown", kind)))
    local head = item:add(f.option_word, tvb(at, 2))
    head:add(f.option_private, tvb(at, 2))
    head:add(f.option_discard, tvb(at, 2))
    head:add(f.option_type, tvb(at, 2))
    item:add(f.option_words, tvb(at + 2, 2))

    local content = octets > 4 and tvb(at + 4, octets - 4) or nil
    if not name then
        found.discard = found.discard or counts and asks_discard
    else
        local id = (is_private and PRIVATE or 0) + kind
        if found[id] then
            item:add_proto_expert_info(e_repeated)
            found.two_checksums = found.two_checksums or id == 3
        end
        local misfit = misfits(is_private, kind, words, content)
        if not found[id] then
            found[id] = { at = at, words = words }
            found.misfit = found.misfit or (misfit and id ~= 3)
        end
        if not misfit and content then
            if is_private then
                private_content[kind](item, content, found)
            else
                add_public(item, content, kind, found)
            end
            return octets
        end
    end
    if content then
        item:add(f.option_content, content)
    end
    return octets
end

-- Receive rule 6. True when the packet is good, or its checksum was not looked at.
local function checksum_holds(tvb, length, tree, found)
    local option = found[3]
    if not option then
        return true
    end
    if found.two_checksums or option.words ~= 2 then
        return false
    end
    local range = tvb(option.at + 4, 2)
    if not anep.prefs.checksum or tvb:len() < length then
        tree:add(f.checksum_status, range, "unverified"):set_generated()
        return true
    end
    local sum = ones_complement_sum(tvb:raw(0, length))
    if sum == 0xFFFF then
        tree:add(f.checksum_status, range, "good"):set_generated()
        return true
    end
    -- Without its own 16 bits, for what it should be.
    local others = ones_complement_sum(tvb:raw(0, option.at + 4) .. "\0\0" .. tvb:raw(option.at + 6, length - option.at - 6))
    local item = tree:add(f.checksum_status, range, "bad")
    item:set_generated()
    item:add_proto_expert_info(e_checksum, string.format("Wrong checksum: 0x%04x would be right", 0xFFFF - others))
    return false
end

local function drop(tree, pinfo, range, reason)
    local item = tree:add(f.drop, range, reason)
    item:set_generated()
    item:add_proto_expert_info(e_drop, "A node drops this packet: " .. reason)
    pinfo.cols.info:append(" [" .. reason .. "]")
end

-- What is wrong with the basic header at `at` (receive rules 2 and 3); nil when nothing is.
local function header_fault(tvb, at)
    if tvb(at, 1):uint() ~= VERSION then
        return "VERSION"
    end
    local words = tvb(at + 4, 2):uint()
    if words < 2 or words * 4 > tvb(at + 6, 2):uint() then
        return "HEADER_LENGTH"
    end
    return nil
end

local function add_basic_header(tvb, tree)
    tree:add(f.version, tvb(0, 1))
    local flags = tree:add(f.flags, tvb(1, 1))
    flags:add(f.flag_discard, tvb(1, 1))
    tree:add(f.type_id, tvb(2, 2))
    tree:add(f.header_words, tvb(4, 2))
    tree:add(f.header_octets, tvb(4, 2), tvb(4, 2):uint() * 4):set_generated()
    tree:add(f.length, tvb(6, 2))
end

local function add_options(tvb, header_octets, tree, found)
    local type_id = tvb(2, 2):uint()
    local at = BASIC_HEADER
    while at < header_octets do
        local octets = add_option(tvb, at, header_octets, tree, type_id == anep.prefs.type_id, found)
        if not octets then
            return false
        end
        at = at + octets
    end
    return true
end

local function summary(tvb, found)
    local type_id = tvb(2, 2):uint()
    local parts = { type_names[type_id] or string.format("Type ID 0x%04x", type_id) }
    if found.source or found.destination then
        parts[#parts + 1] = (found.source or "?") .. " -> " .. (found.destination or "?")
    end
    parts[#parts + 1] = found.service
    parts[#parts + 1] = found.stream
    return table.concat(parts, ", ")
end

-- One packet from the start of `tvb`, which ends where the datagram or, in a stream, the packet ends.
local function dissect_packet(tvb, pinfo, root)
    local here = tvb:len()
    local tree = root:add(anep, tvb())
    pinfo.cols.protocol = "ANEP"
    if here < BASIC_HEADER then
        pinfo.cols.info:append("packet of " .. here .. " octets")
        return drop(tree, pinfo, tvb(), "SHORT")
    end
    add_basic_header(tvb, tree)
    local fault = header_fault(tvb, 0)
    if fault then
        pinfo.cols.info:append("packet with a wrong basic header")
        return drop(tree, pinfo, tvb(0, BASIC_HEADER), fault)
    end
    local header_octets = tvb(4, 2):uint() * 4
    local length = tvb(6, 2):uint()
    if length > tvb:reported_len() then
        pinfo.cols.info:append(string.format("%d of %d octets", tvb:reported_len(), length))
        return drop(tree, pinfo, tvb(6, 2), "TRUNCATED")
    end
    if header_octets > here then
        pinfo.cols.info:append("header cut by the capture")
        tree:add_proto_expert_info(e_part, "The capture cut the packet")
        return
    end

    local found = {}
    local options_good = add_options(tvb, header_octets, tree, found)
    pinfo.cols.info:append(summary(tvb, found) .. ", " .. (length - header_octets) .. " octets")
    tree:append_text(", " .. summary(tvb, found))
    tree:set_len(math.min(length, here))
    if not options_good then
        return drop(tree, pinfo, tvb(BASIC_HEADER, header_octets - BASIC_HEADER), "OPTION_LENGTH")
    elseif not checksum_holds(tvb, length, tree, found) then
        drop(tree, pinfo, tvb(found[3].at, 4), "CHECKSUM")
    elseif found.discard then
        drop(tree, pinfo, tvb(BASIC_HEADER, header_octets - BASIC_HEADER), "OPTION")
    elseif found.misfit then
        drop(tree, pinfo, tvb(BASIC_HEADER, header_octets - BASIC_HEADER), "OPTION_FORMAT")
    end

    local payload_octets = math.min(length, here) - header_octets
    tree:add(f.payload_octets, tvb(6, 2), length - header_octets):set_generated()
    if payload_octets > 0 then
        tree:add(f.payload, tvb(header_octets, payload_octets))
        local inner = payload_dissectors:get_dissector(tvb(2, 2):uint())
        if inner then
            inner:call(tvb(header_octets, payload_octets):tvb(), pinfo, root)
        end
    end
    if here > length then
        tree:add(f.trailer, tvb(length)):add_proto_expert_info(e_trailer)
    end
end

-- Packets back to back. A wrong basic header ends it: there is no mark to resynchronise on, and a node closes then.
local function dissect_stream(tvb, pinfo, root)
    local total = tvb:len()
    local at = 0
    while at < total do
        local left = total - at
        local wanted = BASIC_HEADER
        if left >= BASIC_HEADER then
            if header_fault(tvb, at) then
                dissect_packet(tvb(at):tvb(), pinfo, root)
                return total
            end
            wanted = tvb(at + 6, 2):uint()
        end
        if left < wanted then
            if pinfo.can_desegment > 0 then
                pinfo.desegment_offset = at
                pinfo.desegment_len = left < BASIC_HEADER and DESEGMENT_ONE_MORE_SEGMENT or wanted - left
                return total
            end
            pinfo.cols.protocol = "ANEP"
            pinfo.cols.info:append(string.format("%d of %d octets", left, wanted))
            root:add(anep, tvb(at)):add_proto_expert_info(e_part)
            return total
        end
        if at > 0 then
            pinfo.cols.info:append("; ")
        end
        dissect_packet(tvb(at, wanted):tvb(), pinfo, root)
        at = at + wanted
    end
    return total
end

function anep.dissector(tvb, pinfo, root)
    if tvb:len() == 0 then
        return 0
    end
    pinfo.cols.info:clear()
    if pinfo.port_type == PORT_TYPE_TCP then
        dissect_stream(tvb, pinfo, root)
    else
        dissect_packet(tvb, pinfo, root)
    end
    pinfo.cols.info:fence()
    return tvb:len()
end

-- ---- where it applies ----------------------------------------------------------------------------------------

local function looks_like_anep(tvb, is_datagram)
    if tvb:len() < BASIC_HEADER or header_fault(tvb, 0) then
        return false
    end
    local flags = tvb(1, 1):uint()
    local length = tvb(6, 2):uint()
    if flags ~= 0 and flags ~= 0x80 or tvb(2, 2):uint() == 0 or is_datagram and length ~= tvb:reported_len() then
        return false
    end
    local header_octets = tvb(4, 2):uint() * 4
    local at = BASIC_HEADER
    while at < math.min(header_octets, tvb:len() - 3) do
        local words = tvb(at + 2, 2):uint()
        if words == 0 or at + words * 4 > header_octets then
            return false
        end
        at = at + words * 4
    end
    return true
end

anep:register_heuristic("udp", function(tvb, pinfo, root)
    if not anep.prefs.heuristic or not looks_like_anep(tvb, true) then
        return false
    end
    anep.dissector(tvb, pinfo, root)
    return true
end)

anep:register_heuristic("tcp", function(tvb, pinfo, root)
    if not anep.prefs.heuristic or not looks_like_anep(tvb, false) then
        return false
    end
    anep.dissector(tvb, pinfo, root)
    pinfo.conversation = anep -- Its other segments need not begin with a packet.
    return true
end)

local tcp_ports = DissectorTable.get("tcp.port")
local udp_ports = DissectorTable.get("udp.port")
local ports = anep.prefs.ports
tcp_ports:add(ports, anep)
udp_ports:add(ports, anep)

function anep.prefs_changed()
    if ports ~= anep.prefs.ports then
        tcp_ports:remove(ports, anep)
        udp_ports:remove(ports, anep)
        ports = anep.prefs.ports
        tcp_ports:add(ports, anep)
        udp_ports:add(ports, anep)
    end
end
