#include "record/stream.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <string_view>

#include "record/messages.h"

namespace assay::internal::record {
namespace {

constexpr size_t kMostKept = 1 << 20;  // of a buffer, for the bytes to come

}  // namespace

Stream::~Stream() {
  transport_.reset();  // says goodbye
  close(fd_);
}

void Stream::ask_to_encrypt(const Tls& tls) {
  asked_ = &tls;
  std::string request;
  put_int32(request, 8);
  put_int32(request, kSslRequest);
  over_ = transport_->write(request).bytes != request.size();
}

// Exactly one byte: anything after it was not encrypted, and may be from anybody.
void Stream::hear_answer() {
  char answer = 0;
  const Transport::Done done = transport_->read(&answer, 1);
  if (done.bytes == 0) {
    over_ = done.over;
  } else if (answer == 'S') {
    transport_ = asked_->transport(fd_);
    asked_ = nullptr;
  } else {
    over_ = true;
  }
}

size_t Stream::read(char* to, size_t most) {
  if (asked_ != nullptr) {
    hear_answer();
    return 0;
  }
  const Transport::Done done = transport_->read(to, most);
  over_ = over_ || done.over;
  read_waits_ = done.waits_for;
  return done.bytes;
}

void Stream::write(std::string& bytes) {
  write_waits_ = EPOLLIN;  // for the answer
  while (asked_ == nullptr && !over_ && sent_ < bytes.size()) {
    const Transport::Done done = transport_->write(std::string_view(bytes).substr(sent_));
    sent_ += done.bytes;
    over_ = done.over;
    write_waits_ = done.waits_for;
    if (done.bytes == 0) return;
  }
  if (sent_ < bytes.size()) return;
  bytes.clear();
  if (bytes.capacity() > kMostKept) bytes.shrink_to_fit();
  sent_ = 0;
}

uint32_t Stream::events(bool reads, bool writes) const {
  uint32_t wanted = 0;
  if (reads) wanted |= read_waits_ != 0 ? read_waits_ : EPOLLIN;
  if (writes) wanted |= write_waits_ != 0 ? write_waits_ : EPOLLOUT;
  return wanted;
}

bool Stream::can_read(uint32_t events) const {
  return (events & (EPOLLIN | EPOLLHUP | EPOLLERR | read_waits_)) != 0;
}

}  // namespace assay::internal::record
